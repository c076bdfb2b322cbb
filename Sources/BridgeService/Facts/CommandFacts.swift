// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Conversion of commands, their arguments and replies to the control socket's protocol.

extension Bridge.Command {
  /// Converts a command's description.
  package init(_ command: CommandDescription) {
    self.init(
      name: command.name, summary: command.summary, arguments: command.arguments.map(Bridge.CommandArgument.init),
      results: command.results.map { Bridge.CommandResult(name: $0.name, unit: $0.unit) })
    if command.isWrite { write = true }
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
    standard = argument.defaultValue?.typed
  }
}

extension Bridge.CommandReply {
  /// Converts a reply.
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
    // JSON can't express an infinite number, or one that is not a number.
    case .nothing, .number: self.init(kind: .nothing)
    }
  }
}

extension Bridge.FolderEntry {
  /// Converts a folder's entry.
  package init(_ entry: FileEntry) {
    self.init(name: entry.name, kind: entry.kind == .file ? .file : .folder, size_bytes: entry.size, md5: entry.md5)
  }
}
