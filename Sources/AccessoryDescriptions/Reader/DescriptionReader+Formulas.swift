// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads formulas, and checks that they can be calculated.
extension DescriptionReader {
  typealias Formula = ProtocolDescription.Formula

  /// What the names in a formula stand for.
  struct FormulaScope {
    /// The formula's beginning.
    var mark: YAMLMark
    /// The types of the values that can be named; nil in a field, whose names are numbers of other fields.
    var values: [String: ValueType]?
    var field: ProtocolDescription.Field?
  }

  /// Reads the text of a formula.
  mutating func formula(_ node: YAMLNode) -> Formula? {
    guard case .scalar(let text) = node.content, !text.isEmpty else {
      report(node.mark, "value must be a formula, like (raw - 2731) / 10, not \(kind(node))")
      return nil
    }
    do throws(FormulaError) {
      return try Formula(text)
    } catch {
      // A text in quotes begins behind them; where a block's lines begin is not known.
      var mark = node.mark
      if node.style != .literal { mark.column += error.column - 1 + (node.style == .doubleQuoted ? 1 : 0) }
      report(mark, "value: \(error.message)")
      return nil
    }
  }

  /// The type of what a formula gives; nil if it can't be calculated, which is reported.
  mutating func type(of formula: Formula, _ scope: FormulaScope) -> ValueType? { type(of: formula.root, scope) }

  private mutating func type(of node: Formula.Node, _ scope: FormulaScope) -> ValueType? {
    let number = ValueType(.number, line: scope.mark.line)
    switch node {
    case .number: return number
    case .text(let text):
      guard scope.values != nil else { return refuse("a field's formula gives a number, not a text", scope) }
      return ValueType(.word, words: [text], line: scope.mark.line)
    case .raw(let encoding): return type(ofRaw: encoding, scope)
    case .name(let name):
      // The names in a field's formula are looked up when all fields have been read.
      guard let values = scope.values else { return number }
      if let known = values[name] { return known }
      value(name, scope.mark, "value", { _ in true }, "")
      return nil
    case .negated(let part): return all([part], scope, "a number", Self.isNumber) ? number : nil
    case .not(let part): return all([part], scope, "true or false", Self.isTruth) ? truth(scope) : nil
    case .operation(let sign, let left, let right): return type(of: sign, left, right, scope)
    case .call(let function, let parts): return type(of: function, parts, scope)
    }
  }

  private mutating func type(
    ofRaw encoding: ProtocolDescription.NumberFormat.Encoding?, _ scope: FormulaScope
  ) -> ValueType? {
    guard let field = scope.field else {
      return refuse("raw is the number of a field: name the values here", scope)
    }
    guard let encoding else { return ValueType(.number, line: scope.mark.line) }
    guard case .number(let format) = field.type, format.encoding != .float, field.bits == nil || encoding == .signed
    else {
      return refuse(
        "signed, unsigned, sign_magnitude and bcd are only for whole numbers in bytes, and with bits only signed is",
        scope)
    }
    return ValueType(.number, line: scope.mark.line)
  }

  private mutating func type(
    of sign: Formula.Operator, _ left: Formula.Node, _ right: Formula.Node, _ scope: FormulaScope
  ) -> ValueType? {
    switch sign {
    case .plus, .minus, .times, .dividedBy:
      return all([left, right], scope, "a number", Self.isNumber) ? ValueType(.number, line: scope.mark.line) : nil
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      return all([left, right], scope, "a number", Self.isNumber) ? truth(scope) : nil
    case .and, .or: return all([left, right], scope, "true or false", Self.isTruth) ? truth(scope) : nil
    case .equals, .differs:
      guard let first = type(of: left, scope), let second = type(of: right, scope) else { return nil }
      guard first.isText == second.isText, first.isText || first.kind == second.kind, !first.isList, !second.isList
      else { return refuse("\(first.name) can't be compared with \(second.name)", scope) }
      if case .text(let word) = left, !mayBe(word, second, scope) { return nil }
      if case .text(let word) = right, !mayBe(word, first, scope) { return nil }
      return truth(scope)
    case .isIn:
      guard type(of: left, scope) != nil, let second = type(of: right, scope) else { return nil }
      guard case .text(let word) = left else {
        return refuse("in needs a text in front of it, like 'battery-low' in battery.warnings", scope)
      }
      guard second.kind == .flags || second.isText && !second.isList else {
        return refuse("\(name(of: right)) is \(second.name), and must be flags behind in", scope)
      }
      return mayBe(word, second, scope) ? truth(scope) : nil
    }
  }

  private mutating func type(
    of function: Formula.Function, _ parts: [Formula.Node], _ scope: FormulaScope
  ) -> ValueType? {
    let number = ValueType(.number, line: scope.mark.line)
    if scope.values == nil, ![.when, .first, .percent].contains(function) {
      return refuse("\(function.rawValue) is only for derived values", scope)
    }
    switch function {
    case .when:
      guard all([parts[0]], scope, "true or false", Self.isTruth) else { return nil }
      return common(Array(parts.dropFirst()), scope)
    case .first: return common(parts, scope)
    case .sum: return all(parts, scope, "a number, or a list of numbers", { $0.kind == .number }) ? number : nil
    case .join:
      guard all(parts, scope, "a number, or a list of numbers", { $0.kind == .number }) else { return nil }
      return ValueType(.number, isList: true, line: scope.mark.line)
    case .min, .max:
      return all(parts, scope, "a list of numbers", { $0.kind == .number && $0.isList }) ? number : nil
    case .percent:
      guard all(parts, scope, "a number", Self.isNumber) else { return nil }
      return ValueType(.number, unit: "%", line: scope.mark.line)
    case .charging:
      guard all(parts, scope, "a number", Self.isNumber) else { return nil }
      return ValueType(.word, words: ["charging", "discharging", "not_charging"], line: scope.mark.line)
    case .number:
      let wanted = "a word that stands for a number"
      return all(parts, scope, wanted, { $0.kind == .word && $0.hasRawNumber && !$0.isList }) ? number : nil
    }
  }

  /// The type of the formula's result.
  private mutating func common(_ parts: [Formula.Node], _ scope: FormulaScope) -> ValueType? {
    let types = parts.map { type(of: $0, scope) }
    guard !types.contains(where: { $0 == nil }), var type = types.first ?? nil else { return nil }
    for (part, other) in zip(parts, types.compactMap { $0 }).dropFirst()
    where other.kind != type.kind || other.isList != type.isList {
      return refuse(
        "the formula gives one of several values, so all must be of one kind: \(name(of: parts[0])) is \(type.name), and "
          + "\(name(of: part)) is \(other.name)", scope)
    }
    type.words = types.compactMap { $0 }.reduce(into: []) { $0.formUnion($1.words) }
    type.line = scope.mark.line
    return type
  }

  private static func isNumber(_ type: ValueType) -> Bool { type.kind == .number && !type.isList }
  private static func isTruth(_ type: ValueType) -> Bool { type.kind == .truth && !type.isList }

  private func truth(_ scope: FormulaScope) -> ValueType { ValueType(.truth, line: scope.mark.line) }

  /// Whether all parts have a permitted type. Reports the first one that hasn't.
  private mutating func all(
    _ parts: [Formula.Node], _ scope: FormulaScope, _ wanted: String, _ isGood: (ValueType) -> Bool
  ) -> Bool {
    var areGood = true
    for part in parts {
      guard let type = type(of: part, scope) else {
        areGood = false
        continue
      }
      if !isGood(type), areGood {
        report(scope.mark, "value: \(name(of: part)) is \(type.name), and must be \(wanted)")
        areGood = false
      }
    }
    return areGood
  }

  /// Whether a value can be this word. Reports a word that never occurs.
  private mutating func mayBe(_ word: String, _ type: ValueType, _ scope: FormulaScope) -> Bool {
    if type.words.isEmpty || type.words.contains(word) { return true }
    let what = type.kind == .flags ? "a flag" : "a word"
    return reference(word, scope.mark, "\(what) of this value", among: type.words.sorted()) != nil
  }

  private func name(of part: Formula.Node) -> String {
    if case .name(let name) = part { name } else { "a part" }
  }

  private mutating func refuse(_ message: String, _ scope: FormulaScope) -> ValueType? {
    report(scope.mark, "value: \(message)")
    return nil
  }
}

extension ValueType {
  /// Whether the value is a word or a text.
  fileprivate var isText: Bool { kind == .word || kind == .text }
}
