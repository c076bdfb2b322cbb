// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads derived values.
extension DescriptionReader {
  private static let rules = [
    "first", "percent", "percent-of-range", "difference", "product", "sum", "least", "greatest", "negated", "if",
    "unless", "within", "charge-by-sign", "word", "words", "number",
  ]
  /// Keys that are valid only with some rules.
  private static let options: [(key: String, rules: [String])] = [
    ("dead_band", ["charge-by-sign"]), ("contains", ["word"]), ("word", ["word"]), ("words", ["words"]),
    ("from", ["within"]), ("to", ["within"]),
  ]

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
    guard let fields = fields(node, "a derived value", DescriptionKeys.derivation) else { return nil }
    guard let nameNode = fields["name"], let ruleNode = fields["rule"], let of = fields["of"] else {
      report(node.mark, "a derived value needs a name, a rule, and of: {name: n, rule: difference, of: [a, b]}")
      return nil
    }
    let name = valueName(nameNode)
    if let name, let known = values[name] {
      report(nameNode.mark, "\(name) is already defined in line \(known.line)")
    }
    guard let place = choose(ruleNode, "a rule", among: Self.rules) else { return nil }
    let kind = Self.rules[place]
    for (key, rules) in Self.options where !rules.contains(kind) {
      if let node = fields[key] { report(node.mark, "\(key) is only for the rule \(Self.either(rules))") }
    }
    guard let sources = sources(of, later), let name else { return nil }
    guard let rule = rule(kind, sources, of, fields) else { return nil }
    var derivation = ProtocolDescription.Derivation(name, rule)
    derivation.unit = fields["unit"].flatMap { text($0, "unit", limit: 16) }
    derivation.quantity = fields["quantity"].flatMap { text($0, "quantity", limit: 32) }
    set(&derivation.isHidden, fields["hidden"].flatMap { flag($0, "hidden") })
    note(&derivation, sources, nameNode.mark, fields["role"])
    return derivation
  }

  /// Reads the names of a derived value's sources, which must be defined before it.
  private mutating func sources(_ node: YAMLNode, _ later: Set<String>) -> [String]? {
    var sources: [String] = []
    for node in oneOrMore(node, "values", limit: 16) {
      guard case .scalar(let name) = node.content, !name.isEmpty else {
        report(node.mark, "of must be the name of a value, or a list of names, not \(kind(node))")
        return nil
      }
      if values[name] == nil, later.contains(name) {
        report(
          node.mark, "\(name) is derived later: a value must be defined before the values that are derived from it")
        return nil
      }
      value(name, node.mark, "of", { _ in true }, "")
      sources.append(name)
    }
    if !sources.isEmpty, sources.allSatisfy({ description.parameter($0) != nil }) {
      report(node.mark, "a value must be derived from at least one value that is read, and these are only parameters")
    }
    return sources.isEmpty ? nil : sources
  }

  private mutating func rule(
    _ kind: String, _ of: [String], _ node: YAMLNode, _ fields: [String: YAMLNode]
  ) -> ProtocolDescription.Derivation.Rule? {
    let counts: [String: ClosedRange<Int>] = [
      "first": 2...16, "percent": 2...2, "difference": 2...2, "product": 2...2, "sum": 1...16,
      "percent-of-range": 3...3, "if": 2...2, "unless": 2...2,
    ]
    let count = counts[kind] ?? 1...1
    guard count.contains(of.count) else {
      let wanted = count.count == 1 ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
      report(node.mark, "\(kind) needs \(wanted) value\(count == 1...1 ? "" : "s"), not \(of.count)")
      return nil
    }
    switch kind {
    case "first": return .first(of)
    case "percent", "difference", "product", "negated":
      for name in of { all(name, node, "a number") { $0.kind == .number && !$0.isList } }
      if kind == "percent" { return .percent(of[0], of: of[1]) }
      if kind == "negated" { return .negated(of[0]) }
      return kind == "difference" ? .difference(of[0], of[1]) : .product(of[0], of[1])
    case "percent-of-range":
      for name in of { all(name, node, "a number") { $0.kind == .number && !$0.isList } }
      return .percentOfRange(of[0], empty: of[1], full: of[2])
    case "if", "unless":
      all(of[1], node, "true or false") { $0.kind == .truth && !$0.isList }
      return .condition(of[0], when: of[1], isNegated: kind == "unless")
    case "within":
      all(of[0], node, "a number") { $0.kind == .number && !$0.isList }
      return within(of[0], node, fields)
    case "sum":
      for name in of { all(name, node, "a number, or a list of them") { $0.kind == .number } }
      if of.count == 1 { all(of[0], node, "a list of numbers, or one of several") { $0.isList } }
      return .sum(of)
    case "least", "greatest":
      all(of[0], node, "a list of numbers") { $0.kind == .number && $0.isList }
      return kind == "least" ? .least(of[0]) : .greatest(of[0])
    case "charge-by-sign":
      all(of[0], node, "a number") { $0.kind == .number && !$0.isList }
      let band = fields["dead_band"].flatMap { deadBand($0) } ?? 0
      return .chargeBySign(of[0], deadBand: band)
    case "number":
      all(of[0], node, "a word that stands for a number") { $0.kind == .word && $0.hasRawNumber && !$0.isList }
      return .number(of: of[0])
    case "word": return word(of[0], node, fields)
    default: return words(of[0], node, fields)
    }
  }

  private mutating func all(
    _ name: String, _ node: YAMLNode, _ wanted: String, _ isGood: (ValueType) -> Bool
  ) {
    if let facts = values[name], !isGood(facts) {
      report(node.mark, "of: \(name) is \(facts.name), and must be \(wanted)")
    }
  }

  private mutating func deadBand(_ node: YAMLNode) -> Double? {
    if case .scalar(let text) = node.content, let band = Self.fraction(text), band.numerator >= 0 {
      return band.value
    }
    report(node.mark, "dead_band must be a number of 0 or more, like 0.05, not \(kind(node))")
    return nil
  }

  private mutating func within(
    _ of: String, _ node: YAMLNode, _ fields: [String: YAMLNode]
  ) -> ProtocolDescription.Derivation.Rule? {
    if fields["from"] == nil, fields["to"] == nil {
      report(node.mark, "from or to is missing: the limits of the value")
      return nil
    }
    let from = fields["from"].map { decimal($0, "from") } ?? -.greatestFiniteMagnitude
    let to = fields["to"].map { decimal($0, "to") } ?? .greatestFiniteMagnitude
    guard let from, let to else { return nil }
    guard from <= to else {
      report(fields["to"]?.mark ?? node.mark, "to is less than from, which is \(NumberText.text(from))")
      return nil
    }
    return .within(of, from...to)
  }

  private mutating func word(
    _ of: String, _ node: YAMLNode, _ fields: [String: YAMLNode]
  ) -> ProtocolDescription.Derivation.Rule? {
    guard let word = fields["word"].flatMap({ text($0, "word", limit: 64) }) else {
      if fields["word"] == nil { report(node.mark, "word is missing: the value that the rule gives") }
      return nil
    }
    let contains = fields["contains"].flatMap { plainName($0, "a flag's name") }
    if contains == nil {
      all(of, node, "true or false, or flags with contains") { $0.kind == .truth && !$0.isList }
    } else {
      all(of, node, "flags") { $0.kind == .flags }
    }
    if let contains, let node = fields["contains"], let facts = values[of], !facts.words.contains(contains) {
      _ = reference(contains, node.mark, "a flag of \(of)", among: facts.words.sorted())
    }
    return .word(word, when: of, contains: contains)
  }

  private mutating func words(
    _ of: String, _ node: YAMLNode, _ fields: [String: YAMLNode]
  ) -> ProtocolDescription.Derivation.Rule? {
    guard let mapping = fields["words"] else {
      report(node.mark, "words are missing: the new word for each word, like {bulk: charging}")
      return nil
    }
    all(of, node, "a word") { $0.kind == .word && !$0.isList }
    var words: [String: String] = [:]
    for entry in entries(mapping, "words", limit: 256) ?? [] {
      if let facts = values[of], facts.kind == .word, !facts.words.contains(entry.key) {
        _ = reference(entry.key, entry.mark, "a word of \(of)", among: facts.words.sorted())
      }
      words[entry.key] = text(entry.value, "a word", limit: 64)
    }
    return .words(of, words)
  }

  /// Records the type of a derived value.
  private mutating func note(
    _ derivation: inout ProtocolDescription.Derivation, _ sources: [String], _ mark: YAMLMark, _ role: YAMLNode?
  ) {
    var facts = ValueType(.number, unit: derivation.unit, line: mark.line)
    switch derivation.rule {
    case .first:
      let known = sources.compactMap { values[$0] }
      guard let first = known.first else { return }
      if let other = sources.first(where: {
        values[$0].map { $0.kind != first.kind || $0.isList != first.isList } ?? false
      }) {
        report(
          mark,
          "\(derivation.name) takes the first known value, so all values must be of one kind, and \(other) is of "
            + "another"
        )
      }
      facts = first
      facts.words = known.reduce(into: []) { $0.formUnion($1.words) }
      facts.line = mark.line
      if let unit = derivation.unit { facts.unit = unit }
    case .chargeBySign: facts = ValueType(.word, words: ["charging", "discharging", "not_charging"], line: mark.line)
    case .word(let word, _, _): facts = ValueType(.word, words: [word], line: mark.line)
    case .words(_, let words): facts = ValueType(.word, words: Set(words.values), line: mark.line)
    case .condition, .within:
      guard let first = sources.first, let known = values[first] else { return }
      facts = known
      facts.line = mark.line
      if let unit = derivation.unit { facts.unit = unit }
    case .percent, .percentOfRange: if facts.unit == nil { facts.unit = "%" }
    default: break
    }
    derivation.role = self.role(role, of: derivation.name, facts)
    facts.role = derivation.role
    values[derivation.name] = facts
    if !derivation.isHidden, let objection = CommonValues.objection(to: derivation.name, facts) {
      report(mark, objection)
    }
  }
}
