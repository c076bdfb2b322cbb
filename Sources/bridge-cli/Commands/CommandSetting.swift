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
    if let words = try wordsOfValues(settings, of: commands) { return words }
    let setters = commands.filter(\.sets).filter { Set($0.arguments.map(\.name)).isSuperset(of: names) }
    let whole = setters.filter { $0.arguments.allSatisfy { $0.defaultValue != nil || names.contains($0.name) } }
    if whole.count == 1 { return [whole[0].name] + settings.map { "\($0.name)=\($0.value)" } }
    guard whole.isEmpty else {
      throw UsageError(
        "several commands take \(names.joined(separator: " and ")): use request with one of them: "
          + whole.map(\.form).joined(separator: ", "))
    }
    if let partial = setters.first {
      let missing = partial.arguments.filter { $0.defaultValue == nil && !names.contains($0.name) }.map(\.name)
      throw UsageError(
        "\(missing.joined(separator: " and ")) must be set together with \(names.joined(separator: " and "))")
    }
    var known = commands.filter(\.sets).flatMap(\.settable)
    known += commands.flatMap(\.settings).map(\.name).filter { !known.contains($0) }.sorted().uniqued
    guard !names.allSatisfy(known.contains) else {
      throw UsageError("\(names.joined(separator: " and ")) can't be set together: set them one after another")
    }
    let unknown = names.first { !known.contains($0) } ?? ""
    let list =
      known.isEmpty
      ? "nothing can be set"
      : NearestWord.advice(unknown, among: known, otherwise: "these can be set: \(known.joined(separator: ", "))")
    throw UsageError("\(names.joined(separator: " and ")) can't be set: \(list)")
  }

  /// The command that changes exactly these values of the accessory, as words of a request; nil where none does. Throws `UsageError`
  /// where some command changes them, but to other values.
  private static func wordsOfValues(
    _ settings: [CommandSetting], of commands: [CommandDescription]
  ) throws(UsageError) -> [String]? {
    let names = Set(settings.map(\.name))
    let setters = commands.filter { !$0.settings.isEmpty && Set($0.settings.map(\.name)) == names }
    guard names.count == settings.count, !setters.isEmpty else { return nil }
    for command in setters {
      let arguments = settings.compactMap { command.argument(for: $0) }
      if arguments.count == settings.count {
        return [command.name] + arguments.filter { !$0.isEmpty }
      }
    }
    let values = setters.flatMap(\.settings).compactMap { if case .value(let value) = $0.source { value } else { nil } }
    let list =
      values.isEmpty
      ? "the protocol has no number for this value" : "it can be \(values.sorted().joined(separator: ", "))"
    throw UsageError(
      "\(settings.map { "\($0.name) can't be set to \($0.value)" }.joined(separator: ", or ")): \(list)")
  }
}

extension [String] {
  /// Without neighbours that are the same.
  fileprivate var uniqued: [String] { reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
}

extension CommandDescription {
  private static let prefix = "set-"

  /// Whether this command sets something: it is named so, or it writes what its arguments say.
  fileprivate var sets: Bool { name.hasPrefix(Self.prefix) || isWrite && !arguments.isEmpty }

  /// The word of a request that makes this command change a value as wanted: empty where the command always does; nil where it doesn't.
  fileprivate func argument(for wanted: CommandSetting) -> String? {
    guard let setting = settings.first(where: { $0.name == wanted.name }) else { return nil }
    switch setting.source {
    case .value(let value): return value.lowercased() == wanted.value.lowercased() ? "" : nil
    case .argument(let name, _, _, _): return setting.argument(for: wanted.value).map { "\(name)=\($0)" }
    }
  }

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
