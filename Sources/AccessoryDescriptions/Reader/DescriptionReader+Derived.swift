// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads derived values.
extension DescriptionReader {
  mutating func derived(_ node: YAMLNode) {
    guard let nodes = list(node, "derived values", limit: 64) else { return }
    // Names of later values, so that using one before it is defined is reported.
    let names = nodes.map { node -> String in
      guard case .mapping(let entries) = node.content, let name = entries.first(where: { $0.key == "name" }),
        case .scalar(let text) = name.value.content
      else { return "" }
      return text
    }
    for (place, node) in nodes.enumerated() {
      let before = problems.count
      let later = Set(names[place...])
      if let derivation = derivation(node, later: later.subtracting(names[..<place])) {
        description.derived.append(derivation)
      }
      if problems.count > before { hasBrokenMessages = true }
    }
  }

  private mutating func derivation(_ node: YAMLNode, later: Set<String>) -> ProtocolDescription.Derivation? {
    guard let fields = keys(node, DescriptionKeys.derivation), let nameNode = fields["name"],
      let valueNode = fields["value"]
    else { return nil }
    let name = valueName(nameNode)
    if let name, let known = values[name] {
      report(nameNode.mark, "\(name) is already defined in line \(known.line)")
    }
    guard let formula = formula(valueNode), areDefined(formula, valueNode.mark, later),
      var facts = type(of: formula, FormulaScope(mark: valueNode.mark, values: values, field: nil)), let name
    else { return nil }
    var derivation = ProtocolDescription.Derivation(name, formula)
    derivation.unit = text(fields, "unit")
    derivation.quantity = text(fields, "quantity")
    set(&derivation.isHidden, flag(fields, "hidden"))
    if let node = fields["translate"] { translations(node, &derivation, &facts) }
    // The line of the definition, not that of the value from which it comes.
    facts.line = nameNode.mark.line
    facts.hasRawNumber = false
    if let unit = derivation.unit { facts.unit = unit }
    derivation.role = role(fields["role"], of: name, facts)
    facts.role = derivation.role
    importance(fields, of: name)
    values[name] = facts
    if !derivation.isHidden, let objection = CommonValues.objection(to: name, facts) {
      report(nameNode.mark, objection)
    }
    return derivation
  }

  /// Whether the names in a formula are defined before it, and at least one of them is a value that is read. Reports
  /// errors.
  private mutating func areDefined(_ formula: Formula, _ mark: YAMLMark, _ later: Set<String>) -> Bool {
    for name in formula.names where values[name] == nil && later.contains(name) {
      report(mark, "\(name) is derived later: a value must be defined before the values that are derived from it")
      return false
    }
    if formula.names.allSatisfy({ description.parameter($0) != nil }), !formula.hasRaw {
      report(mark, "value: a value must be derived from at least one value that is read")
      return false
    }
    return true
  }

  /// Reads another word for each word of the formula.
  private mutating func translations(
    _ node: YAMLNode, _ derivation: inout ProtocolDescription.Derivation, _ facts: inout ValueType
  ) {
    guard facts.kind == .word, !facts.isList else {
      return report(node.mark, "translate is for words, and the formula gives \(facts.name)")
    }
    for entry in entries(node, "translate", limit: 256) ?? [] {
      if !facts.words.contains(entry.key) {
        _ = reference(entry.key, entry.mark, "a word of \(derivation.name)", among: facts.words.sorted())
      }
      derivation.translations[entry.key] = text(entry.value, "a word", limit: 64)
    }
    facts = ValueType(.word, words: Set(derivation.translations.values), line: facts.line)
  }
}
