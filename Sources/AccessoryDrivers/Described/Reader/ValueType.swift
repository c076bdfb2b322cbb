// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// What is known of a value before any byte of it is there.
struct ValueType: Hashable {
  /// What it is.
  enum Kind: Hashable {
    case number, text, word, flags, truth, date
  }

  var kind: Kind
  var isList: Bool
  var unit: String?
  /// Whether it begins with a whole number, before words or a scale: a count, a piece's number.
  var hasRawNumber = false
  /// Words that it can be, or names of flags that it can have.
  var words: Set<String> = []
  var line: Int

  /// What a field's values are.
  init(_ field: ProtocolDescription.Field, line: Int) {
    kind = Self.kind(of: field)
    isList = field.isList
    unit = field.unit
    hasRawNumber = Self.hasRawNumber(field.type)
    words = Set(field.words.values).union(field.flags.values)
    self.line = line
  }

  /// A value that follows from others.
  init(_ kind: Kind, isList: Bool = false, unit: String? = nil, words: Set<String> = [], line: Int) {
    (self.kind, self.isList, self.unit, self.words, self.line) = (kind, isList, unit, words, line)
  }

  /// For people: "a number".
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
    if field.isTruth { return .truth }
    switch field.type {
    case .number, .scattered, .decimal, .hexadecimal, .hexadecimalBytes, .bitText, .word: return .number
    case .text, .terminatedText, .prefixedText, .restOfText, .bytes, .plainText: return .text
    case .packedDate: return .date
    }
  }

  static func hasRawNumber(_ type: ProtocolDescription.FieldType) -> Bool {
    switch type {
    case .number(let format): format.encoding != .float
    case .scattered, .decimal, .hexadecimal, .hexadecimalBytes, .bitText, .word: true
    default: false
    }
  }
}
