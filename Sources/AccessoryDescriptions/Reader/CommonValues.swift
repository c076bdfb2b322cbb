// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

/// The names that `battery`, `status` and `info` show for every accessory, with the types they must have. Every other name is free.
enum CommonValues {
  private enum Kind {
    /// A number in one of these units.
    case number([String])
    case numbers(String)
    case count
    case text
    case flags
    case words([String])
  }

  private static let kinds: [(name: String, kind: Kind)] =
    Vocabulary.shown.flatMap { kinds($0, "battery.") } + Vocabulary.status.flatMap { kinds($0, "status.") }
    + ["manufacturer", "name", "model", "serial", "firmware", "hardware", "production_date"].map {
      ("identity." + $0, .text)
    }

  /// The names of a row of the vocabulary in descriptions.
  private static func kinds<Reading>(_ term: ReadingTerm<Reading>, _ part: String) -> [(name: String, kind: Kind)] {
    guard let described = term.described else { return [] }
    let units = described.units.map(\.rawValue)
    let name = part + described.name
    switch term.form {
    case .number: return [(name, units.isEmpty ? .count : .number(units))]
    case .word(let words, _, _): return [(name, .words(words))]
    case .list:
      let list: (name: String, kind: Kind) = (name, .numbers(units[0]))
      return [list] + (described.element.map { [(part + $0, .number(units))] } ?? [])
    case .names: return [(name, .flags)]
    }
  }

  static let names = kinds.map(\.name)

  /// Whether a name has the prefix of a common name, but isn't one.
  static func isNear(_ name: String) -> Bool {
    ["battery.", "status.", "identity."].contains { name.hasPrefix($0) } && !names.contains(name)
  }

  /// Why a value of this type can't have this name; nil when it can.
  static func objection(to name: String, _ facts: ValueType) -> String? {
    guard let kind = kinds.first(where: { $0.name == name })?.kind else { return nil }
    switch kind {
    case .number(let units):
      if facts.kind != .number || facts.isList { return "\(name) must be a number, not \(facts.name)" }
      return inUnit(name, units, facts)
    case .numbers(let unit):
      if facts.kind != .number || !facts.isList {
        return "\(name) must be a list of numbers (repeat, or list: true), not \(facts.name)"
      }
      return inUnit(name, [unit], facts)
    case .count: return facts.kind == .number && !facts.isList ? nil : "\(name) must be a number, not \(facts.name)"
    case .text: return facts.kind == .flags || facts.isList ? "\(name) must be a text, not \(facts.name)" : nil
    case .flags:
      return facts.kind == .flags ? nil : "\(name) must be names by bit (flags: {0: overheated}), not \(facts.name)"
    case .words(let words):
      guard facts.kind == .word, !facts.isList else { return "\(name) must be a word, not \(facts.name)" }
      guard let other = facts.words.sorted().first(where: { !words.contains($0) }) else { return nil }
      return "\(name) must be one of \(words.joined(separator: ", ")), and can't be \(Quoted.text(other))"
    }
  }

  private static func inUnit(_ name: String, _ units: [String], _ facts: ValueType) -> String? {
    if let unit = facts.unit, units.contains(unit) { return nil }
    return
      "\(name) is in \(NameWords.list(units, "or")): say unit: \(Quoted.text(units[0])), and a value like raw / 10 where the accessory counts otherwise"
  }
}
