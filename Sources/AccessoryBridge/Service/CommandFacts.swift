// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Converts the commands, results, files and protocol details that a service reports.

extension CommandDescription {
  /// The command that a service reports; nil when it is invalid.
  package init?(_ command: Bridge.Command) {
    let arguments = command.arguments.compactMap(Argument.init)
    guard arguments.count == command.arguments.count else { return nil }
    self.init(
      command.name, command.summary, arguments, results: command.results.map { Result($0.name, unit: $0.unit) },
      isWrite: command.write == true)
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
    self.init(argument.name, kind, unit: argument.unit, defaultValue: standard ?? nil)
  }
}

extension CommandValue {
  /// The value that a service reports; nil when it is invalid.
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

extension FileEntry {
  /// The entry that a service reports.
  package init(_ entry: Bridge.FolderEntry) {
    self.init(entry.name, entry.kind == .file ? .file : .folder, size: entry.size_bytes, md5: entry.md5)
  }
}

extension ProtocolDetails {
  /// The details that a service reports. An invalid boot id is left out.
  init(_ details: Bridge.ProtocolDetails) {
    self.init(
      name: details.name, bootID: details.boot_id.flatMap { UInt32($0, radix: 16) },
      largestPayload: details.largest_payload_bytes, window: details.window,
      unreadableFields: details.unreadable_fields.flatMap { UInt64(exactly: $0) })
  }
}
