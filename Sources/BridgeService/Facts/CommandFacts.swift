// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Commands, their arguments and what they are answered, in the interface's terms and back.

extension Bridge.Command {
  /// A command in the interface's terms.
  package init(_ command: CommandDescription) {
    self.init(
      name: command.name, summary: command.summary, arguments: command.arguments.map(Bridge.CommandArgument.init),
      results: command.results.map { Bridge.CommandResult(name: $0.name, unit: $0.unit) })
  }
}

extension Bridge.CommandArgument {
  init(_ argument: CommandDescription.Argument) {
    switch argument.kind {
    case .whole(let range):
      self.init(name: argument.name, kind: .whole)
      (minimum, maximum) = (range.lowerBound, range.upperBound)
    case .choice(let words):
      self.init(name: argument.name, kind: .choice)
      self.words = words
    case .choices(let words):
      self.init(name: argument.name, kind: .choices)
      self.words = words
    case .text(let limit):
      self.init(name: argument.name, kind: .text)
      self.limit = limit
    case .bytes(let limit):
      self.init(name: argument.name, kind: .bytes)
      self.limit = limit
    case .flag: self.init(name: argument.name, kind: .flag)
    }
    unit = argument.unit
    standard = argument.standard?.typed
  }
}

extension CommandDescription {
  /// The command that a service tells of; nil when it makes no sense.
  package init?(_ command: Bridge.Command) {
    let arguments = command.arguments.compactMap(Argument.init)
    guard arguments.count == command.arguments.count else { return nil }
    self.init(
      command.name, command.summary, arguments, results: command.results.map { Result($0.name, unit: $0.unit) })
  }
}

extension CommandDescription.Argument {
  init?(_ argument: Bridge.CommandArgument) {
    let kind: CommandDescription.Kind
    switch argument.kind {
    case .whole:
      guard let minimum = argument.minimum, let maximum = argument.maximum, minimum <= maximum else { return nil }
      kind = .whole(minimum...maximum)
    case .choice: kind = .choice(argument.words ?? [])
    case .choices: kind = .choices(argument.words ?? [])
    case .text: kind = .text(argument.limit ?? .max)
    case .bytes: kind = .bytes(argument.limit ?? .max)
    case .flag: kind = .flag
    }
    let standard = argument.standard.map { kind.value($0) }
    if case .some(.none) = standard { return nil }
    self.init(argument.name, kind, unit: argument.unit, standard: standard ?? nil)
  }
}

extension Bridge.CommandReply {
  /// An answer in the interface's terms.
  package init(_ reply: CommandReply) {
    self.init(command: reply.command.name, values: reply.values.map(Bridge.Value.init))
  }
}

extension Bridge.Value {
  init(_ value: CommandValue) {
    switch value {
    case .whole(let number):
      self.init(kind: .whole)
      whole = number
    case .number(let number) where number.isFinite:
      self.init(kind: .number)
      self.number = number
    case .text(let text):
      self.init(kind: .text)
      self.text = text
    case .list(let values):
      self.init(kind: .list)
      list = values.map(Bridge.Value.init)
    case .bytes(let bytes):
      self.init(kind: .bytes)
      bytes_hex = Hexadecimal.string(bytes)
    case .flag(let isSet):
      self.init(kind: .flag)
      flag = isSet
    // JSON has no number that is none.
    case .nothing, .number: self.init(kind: .nothing)
    }
  }
}

extension CommandValue {
  /// The value that a service tells of; nil when it makes no sense.
  package init?(_ value: Bridge.Value) {
    switch value.kind {
    case .whole:
      guard let whole = value.whole else { return nil }
      self = .whole(whole)
    case .number:
      guard let number = value.number else { return nil }
      self = .number(number)
    case .text:
      guard let text = value.text else { return nil }
      self = .text(text)
    case .list:
      guard let list = value.list else { return nil }
      let values = list.compactMap { CommandValue($0) }
      guard values.count == list.count else { return nil }
      self = .list(values)
    case .bytes:
      guard let bytes = value.bytes_hex.flatMap({ Hexadecimal.bytes($0) }) else { return nil }
      self = .bytes(bytes)
    case .flag:
      guard let flag = value.flag else { return nil }
      self = .flag(flag)
    case .nothing: self = .nothing
    }
  }
}

extension Bridge.FolderEntry {
  /// An entry in the interface's terms.
  package init(_ entry: FileEntry) {
    self.init(name: entry.name, kind: entry.kind == .file ? .file : .folder, size_bytes: entry.size, md5: entry.md5)
  }
}

extension FileEntry {
  /// The entry that a service tells of.
  package init(_ entry: Bridge.FolderEntry) {
    self.init(entry.name, entry.kind == .file ? .file : .folder, size: entry.size_bytes, md5: entry.md5)
  }
}
