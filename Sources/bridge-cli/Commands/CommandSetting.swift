// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import CommandOutput

/// A value that is to be set, as typed: NAME=VALUE.
struct CommandSetting: Sendable, Hashable {
  let name, value: String

  init?(_ word: String) {
    guard let equals = word.firstIndex(of: "="), equals > word.startIndex else { return nil }
    (name, value) = (String(word[..<equals]), String(word[word.index(after: equals)...]))
  }

  /// The command, among these, that sets exactly these values, as words of a request. Throws `UsageError` where there is none, or
  /// more than one.
  static func words(_ settings: [CommandSetting], of commands: [CommandDescription]) throws(UsageError) -> [String] {
    let names = settings.map(\.name)
    if let only = settings.first, settings.count == 1,
      let command = commands.first(where: { $0.isSetter(of: only.name) })
    {
      return [command.name, "\(command.arguments[0].name)=\(only.value)"]
    }
    let setters = commands.filter(\.sets).filter { Set($0.arguments.map(\.name)).isSuperset(of: names) }
    let whole = setters.filter { $0.arguments.allSatisfy { $0.defaultValue != nil || names.contains($0.name) } }
    if whole.count == 1 { return [whole[0].name] + settings.map { "\($0.name)=\($0.value)" } }
    guard whole.isEmpty else {
      throw UsageError(
        "several commands take \(names.joined(separator: " and ")), use request with one of them: "
          + whole.map(\.form).joined(separator: ", "))
    }
    if let partial = setters.first {
      let missing = partial.arguments.filter { $0.defaultValue == nil && !names.contains($0.name) }.map(\.name)
      throw UsageError(
        "\(missing.joined(separator: " and ")) must be set together with \(names.joined(separator: " and "))")
    }
    let known = commands.filter(\.sets).flatMap(\.settable)
    guard !names.allSatisfy(known.contains) else {
      throw UsageError("\(names.joined(separator: " and ")) can't be set together: set them one after another")
    }
    let list = known.isEmpty ? "nothing can be set" : "what can be set is \(known.joined(separator: ", "))"
    throw UsageError("\(names.joined(separator: " and ")) can't be set: \(list)")
  }
}

extension CommandDescription {
  private static let prefix = "set-"

  /// Whether this command sets something: it is named so, or it writes what its arguments say.
  fileprivate var sets: Bool { name.hasPrefix(Self.prefix) || isWrite && !arguments.isEmpty }

  /// Whether this command sets the value `wanted` alone.
  fileprivate func isSetter(of wanted: String) -> Bool {
    guard sets, arguments.count == 1 else { return false }
    return name == Self.prefix + wanted || name == wanted
  }

  /// The names of what it sets.
  fileprivate var settable: [String] {
    guard arguments.count == 1 else { return arguments.map(\.name) }
    return [name.hasPrefix(Self.prefix) ? String(name.dropFirst(Self.prefix.count)) : name]
  }
}
