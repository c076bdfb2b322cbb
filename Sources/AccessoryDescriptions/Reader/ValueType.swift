// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The type of a value, as the description defines it.
struct ValueType: Hashable {
  /// The kind of the value.
  enum Kind: Hashable {
    case number, text, word, flags, truth, date
  }

  var kind: Kind
  var isList: Bool
  var unit: String?
  /// The role of the value; nil where the description says none.
  var role: String?
  /// Whether the value has a whole raw number, before words or a scale are applied, so that it can be a count.
  var hasRawNumber = false
  /// The words that the value can be, or the names of its flags.
  var words: Set<String> = []
  var line: Int

  /// The type of a field's values.
  init(_ field: ProtocolDescription.Field, line: Int) {
    kind = Self.kind(of: field)
    isList = field.isList
    (unit, role) = (field.unit, field.role)
    hasRawNumber = Self.hasRawNumber(field.type)
    words = Set(field.words.values).union(field.flags.values)
    self.line = line
  }

  /// The type of a derived value.
  init(_ kind: Kind, isList: Bool = false, unit: String? = nil, words: Set<String> = [], line: Int) {
    (self.kind, self.isList, self.unit, self.words, self.line) = (kind, isList, unit, words, line)
  }

  /// The type in an error message: "a number".
  var name: String {
    if isList { return "a list" }
    return switch kind {
    case .number: "a number"
    case .text: "a text"
    case .word: "a word"
    case .flags: "flags"
    case .truth: "true or false"
    case .date: "a date"
    }
  }

  private static func kind(of field: ProtocolDescription.Field) -> Kind {
    if !field.words.isEmpty { return .word }
    if !field.flags.isEmpty { return .flags }
    if field.isBoolean { return .truth }
    switch field.type {
    case .number, .scattered, .digits, .decimal, .hexadecimal, .hexadecimalBytes, .bitText, .word: return .number
    case .text, .terminatedText, .prefixedText, .restOfText, .bytes, .plainText: return .text
    case .packedDate: return .date
    }
  }

  static func hasRawNumber(_ type: ProtocolDescription.FieldType) -> Bool {
    switch type {
    case .number(let format): format.encoding != .float
    case .scattered, .digits, .decimal, .hexadecimal, .hexadecimalBytes, .bitText, .word: true
    default: false
    }
  }
}
