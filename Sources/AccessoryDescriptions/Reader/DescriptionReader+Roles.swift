// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore

// Reads what a value is for programs that know devices of its kind.
extension DescriptionReader {
  /// Reads the role of a value of this type. Reports an unknown role, one that the value can't have, and one that
  /// another value has.
  mutating func role(_ node: YAMLNode?, of name: String, _ facts: ValueType) -> String? {
    guard let node, let word = text(node, "role", limit: ReadingLimits.nameBytes) else { return nil }
    guard let term = Vocabulary.roles.first(where: { $0.role.rawValue == word }) else {
      let known = Vocabulary.roles.map(\.role.rawValue)
      report(node.mark, "\(Quoted.text(word)) is not a role: \(KnownKeys.advice(word, among: known))")
      return nil
    }
    if !DescribedPart.isValue(name) {
      report(node.mark, "\(name) has no role: everybody knows it by its name")
    } else if term.unit == nil, facts.kind != .truth || facts.isList {
      report(node.mark, "what is \(word) must be true or false, not \(facts.name)")
    } else if let unit = term.unit, facts.kind != .number || facts.isList || facts.unit != unit.rawValue {
      report(node.mark, "what is \(word) must be a number in \(unit), not \(facts.nameWithUnit)")
    } else if let other = values.first(where: { $0.key != name && $0.value.role == word }) {
      report(node.mark, "\(other.key) in line \(other.value.line) is \(word) already: only one value can be")
    } else {
      return word
    }
    return nil
  }
}

extension ValueType {
  /// "a number in V", "a list".
  fileprivate var nameWithUnit: String {
    kind == .number && !isList ? name + (unit.map { " in \($0)" } ?? " without a unit") : name
  }
}
