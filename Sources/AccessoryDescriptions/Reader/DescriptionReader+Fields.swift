// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads fields: where a value is decoded from, and what it means.
extension DescriptionReader {
  /// Whether a field is decoded from bytes or from text.
  enum FieldPlace: Hashable {
    case bytes, text
  }

  /// Reads a field, except for its key `repeat`, which the caller reads. Records the field in `scope` and `values`.
  mutating func field(
    _ keys: KeyedNodes, _ mark: YAMLMark, _ place: FieldPlace, _ scope: inout MessageScope
  ) -> ProtocolDescription.Field? {
    if let node = keys["repeat"], place == .text { report(node.mark, "repeat is only for fields of bytes") }
    guard let nameNode = keys["name"], let typeNode = keys["type"] else {
      report(mark, "a field needs a \(keys["name"] == nil ? "name" : "type"): {name: battery.voltage, type: u16}")
      return nil
    }
    let before = problems.count
    let name = valueName(nameNode)
    let type = fieldType(typeNode, keys, place)
    guard let name, let type else { return nil }
    var field = ProtocolDescription.Field(name, type)
    if let node = keys["bits"] {
      field.bits = bits(node, stays: flag(keys, "stay") ?? false, type)
    } else if let node = keys["stay"], flag(keys, "stay") == true {
      stay(node, type, &field)
    }
    amount(keys, place, &field, &scope)
    field.unit = text(keys, "unit")
    field.quantity = text(keys, "quantity")
    if let node = keys["unknown"] { unknown(node, &field) }
    meanings(keys, &field)
    field.form = keys["form"].flatMap { textForm($0, type) }
    set(&field.isList, flag(keys, "list"))
    if scope.groups > 0 || keys["repeat"] != nil { field.isList = true }
    set(&field.isHidden, flag(keys, "hidden"))
    field.role = role(keys["role"], of: name, ValueType(field, line: mark.line))
    importance(keys, of: name)
    note(field, nameNode.mark, &scope, isWhole: problems.count == before)
    return field
  }

  /// Records the field. Reports a field whose unit differs from that of an earlier field with the same name, or that is
  /// a list where the other isn't.
  private mutating func note(
    _ field: ProtocolDescription.Field, _ mark: YAMLMark, _ scope: inout MessageScope, isWhole: Bool
  ) {
    scope.fields.append(field.name)
    if ValueType.hasRawNumber(field.type) { scope.counting.insert(field.name) }
    let facts = ValueType(field, line: mark.line)
    guard isWhole else { return }
    if let known = values[field.name],
      known.unit != facts.unit || known.isList != facts.isList || known.role != facts.role
    {
      let what =
        known.unit != facts.unit
        ? "is in \(known.unit ?? "no unit")"
        : known.role != facts.role
          ? "has \(known.role.map { "the role \($0)" } ?? "no role")" : known.isList ? "is a list" : "is no list"
      report(mark, "\(field.name) in line \(known.line) \(what): a value must be the same everywhere")
    }
    values[field.name] = facts
    if !field.isHidden, let objection = CommonValues.objection(to: field.name, facts) { report(mark, objection) }
  }

  /// Reads the name of a value. Reports a name that has the prefix of a common value but isn't one.
  mutating func valueName(_ node: YAMLNode) -> String? {
    guard let name = plainName(node, "a value's name") else { return nil }
    if CommonValues.isNear(name) {
      report(
        node.mark,
        "\(Quoted.text(name)) is not one of the common values: \(KnownKeys.advice(name, among: CommonValues.names))")
      return nil
    }
    return name
  }

  private mutating func bits(
    _ node: YAMLNode, stays: Bool, _ type: ProtocolDescription.FieldType
  ) -> ProtocolDescription.Bits? {
    guard let count = bitCount(type) else {
      report(node.mark, "bits are only for whole numbers of 0 or more")
      return nil
    }
    return bits(node, of: count, stays: stays)
  }

  private mutating func stay(
    _ node: YAMLNode, _ type: ProtocolDescription.FieldType, _ field: inout ProtocolDescription.Field
  ) {
    if case .digits = type {
      field.bits = ProtocolDescription.Bits(lowest: 0, count: 63, staysHere: true)
      return
    }
    guard case .number(let format) = type, format.encoding == .unsigned else {
      report(node.mark, "stay is only for whole numbers of 0 or more, of which the next field takes other bits")
      return
    }
    field.bits = ProtocolDescription.Bits(lowest: 0, count: format.byteCount * 8, staysHere: true)
  }

  /// The number of bits in a type's raw number; nil when single bits of it can't be selected.
  private func bitCount(_ type: ProtocolDescription.FieldType) -> Int? {
    switch type {
    case .number(let format) where format.encoding == .unsigned: format.byteCount * 8
    case .scattered(let places, nil): places.reduce(0) { $0 + $1.count }
    case .decimal, .hexadecimal, .bitText: 63
    case .hexadecimalBytes(let format) where format.encoding == .unsigned: format.byteCount * 8
    default: nil
    }
  }

  /// Reads how the value is calculated.
  private mutating func amount(
    _ keys: KeyedNodes, _ place: FieldPlace, _ field: inout ProtocolDescription.Field,
    _ scope: inout MessageScope
  ) {
    guard let node = keys["value"] else { return }
    guard isNumber(field.type) else { return report(node.mark, "value is only for numbers") }
    for other in ["words", "translate", "flags", "truth"] where keys[other] != nil {
      report(node.mark, "value can't be combined with \(other): \(other) stand for the number as it is sent")
    }
    guard let formula = formula(node),
      let type = type(of: formula, FormulaScope(mark: node.mark, values: nil, field: field))
    else { return }
    guard type.kind == .number else {
      return report(node.mark, "value: a field's formula gives a number, not \(type.name)")
    }
    if formula.names.contains(where: { $0.hasPrefix("raw-") && hasBareMinus($0, node.mark, "value") }) { return }
    if !formula.hasRaw { report(node.mark, "value: the formula doesn't name raw, the number that is sent") }
    if !formula.hasSomeValue {
      report(node.mark, "value: the formula has no value: its numbers are too large, or it divides by 0")
    }
    if formula.names.contains(field.name) {
      return report(node.mark, "value: \(field.name) is the field itself: its number is raw")
    }
    for name in formula.names {
      if place == .text || !ValueType.hasRawNumber(field.type) {
        report(
          node.mark, "value: other fields can be named only for whole numbers in bytes, so \(Quoted.text(name)) can't")
      } else {
        scope.wanted.append((name, node.mark, "value"))
      }
    }
    if !formula.isInvertible {
      note(
        node.mark,
        "value isn't linear in raw, so no number to send can be calculated from it: a simulated accessory sends 0")
    }
    field.formula = formula
  }

  private func isNumber(_ type: ProtocolDescription.FieldType) -> Bool {
    if case .number = type { true } else { ValueType.hasRawNumber(type) }
  }

  private mutating func unknown(_ node: YAMLNode, _ field: inout ProtocolDescription.Field) {
    for value in oneOrMore(node, "what means unknown", limit: 16) {
      guard case .scalar(let text) = value.content, !text.isEmpty || value.style != .plain else {
        report(value.mark, "unknown must be a number, or a text in quotes, not \(kind(value))")
        continue
      }
      if value.style == .plain, text == "dashes", Self.isText(field.type) {
        field.dashesMeanUnknown = true
      } else if value.style == .plain, let range = rawRange(field) ?? wholeFloats(field) {
        if let number = integer(value, "the number that means unknown", range) { field.unknownNumbers.append(number) }
      } else if value.style != .plain, Self.isText(field.type) {
        field.unknownTexts.append(text)
      } else {
        report(
          value.mark,
          rawRange(field) == nil && wholeFloats(field) == nil
            ? "unknown must be a text in quotes here, not \(kind(value))"
            : "unknown must be a number without quotes here, not \(kind(value))")
      }
    }
  }

  /// The raw numbers that a field can have, before offset and scale; nil when it has none.
  func rawRange(_ field: ProtocolDescription.Field) -> ClosedRange<Int>? {
    if let bits = field.bits { return 0...(bits.count >= 63 ? .max : (1 << bits.count) - 1) }
    switch field.type {
    case .number(let format), .hexadecimalBytes(let format): return Self.range(of: format)
    case .scattered(let places, let sign):
      let count = places.reduce(0) { $0 + $1.count }
      let most = count >= 63 ? Int.max : (1 << count) - 1
      return (sign == nil ? 0 : -most)...most
    case .decimal: return .min ... .max
    case .digits: return 0 ... .max
    case .hexadecimal, .bitText, .word: return 0 ... .max
    default: return nil
    }
  }

  /// The whole numbers among those of floating point, where they are all different.
  private func wholeFloats(_ field: ProtocolDescription.Field) -> ClosedRange<Int>? {
    guard case .number(let format) = field.type, format.encoding == .float else { return nil }
    return -16_777_216...16_777_216
  }

  private static func isText(_ type: ProtocolDescription.FieldType) -> Bool {
    switch type {
    case .number, .digits, .scattered, .packedDate, .bytes: false
    default: true
    }
  }

  private mutating func meanings(_ keys: KeyedNodes, _ field: inout ProtocolDescription.Field) {
    let said = ["words", "flags", "truth"].filter { keys[$0] != nil }
    if said.count > 1 {
      report(keys[said[1]]?.mark ?? YAMLMark(line: 1, column: 1), "a field can have only one of words, flags and truth")
    }
    guard let range = rawRange(field), ValueType.hasRawNumber(field.type) else {
      for key in said { report(keys[key]?.mark ?? YAMLMark(line: 1, column: 1), "\(key) is only for whole numbers") }
      return
    }
    set(&field.isBoolean, flag(keys, "truth"))
    if let node = keys["translate"] { field.words = wordTexts(node) }
    if let node = keys["words"] {
      if case .word = field.type { report(node.mark, "words are by number: the words of a text are in translate") }
      field.words = numbered(node, "words", range) { $0.text($1, "a word", limit: 64) }
    }
    if let node = keys["flags"] {
      let bits = field.bits?.count ?? bitCount(field.type) ?? 64
      field.flags = numbered(node, "flags", 0...max(0, min(bits, 64) - 1)) { $0.plainName($1, "a flag's name") }
    }
  }
}
