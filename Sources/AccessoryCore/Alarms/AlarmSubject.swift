// SPDX-License-Identifier: Apache-2.0

/// What a rule looks at: a part of the battery reading or of the status, or one of the accessory's values.
///
/// If the accessory doesn't report a part that has a single word for a name, the value of that name is meant.
public enum AlarmSubject: Sendable, Hashable, CustomStringConvertible {
  /// A part of the battery reading or of the status: whatever the vocabulary has a phrase for. The raw values are the words in
  /// a rule.
  public struct Part: RawRepresentable, Sendable, Hashable, CaseIterable {
    private let index: Int

    /// The part with this phrase; nil where there is none.
    public init?(rawValue phrase: String) {
      guard let index = AlarmPhrase.all.firstIndex(where: { $0.phrase == phrase }) else { return nil }
      self.index = index
    }

    private init(at index: Int) { self.index = index }

    /// All parts.
    public static var allCases: [Part] { AlarmPhrase.all.indices.map(Part.init(at:)) }

    /// The phrase.
    public var rawValue: String { phrase.phrase }
    /// The unit of the part's numbers; nil for words and for plain numbers.
    public var unit: MeasurementUnit? { phrase.unit }
    /// The words that the part may be, in their order; nil for numbers.
    var words: [String]? { phrase.words }
    /// Whether the words have an order, so that one is less than another.
    var isOrdered: Bool { phrase.isOrdered }
    /// Whether the part is a difference of several numbers.
    var isSpread: Bool { phrase.isSpread }
    var phrase: AlarmPhrase { AlarmPhrase.all[index] }

    /// Whether a limit without a unit is in `unit`. Where two units are usual, a rule must say which.
    var needsNoUnit: Bool { unit == nil || unit == .percent || unit == .celsius }

    /// Whether the value of the same name is meant where the accessory doesn't report the part.
    var mayBeValue: Bool { !rawValue.contains(" ") }
  }

  /// A part of the battery reading or of the status.
  case part(Part)
  /// The value of this name.
  case value(String)

  /// Whether the subject is a difference of several numbers.
  var isSpread: Bool { if case .part(let part) = self { part.isSpread } else { false } }

  /// The subject as in a rule: `cell spread`, `pv_power`, `value temperature`, `"odd name"`.
  public var description: String {
    switch self {
    case .part(let part): part.rawValue
    case .value(let name):
      AlarmWords.isWord(name) ? (AlarmWords.isTaken(name) ? "value " : "") + name : AlarmWords.quoted(name)
    }
  }
}

/// How a reading is compared with a limit.
public enum AlarmComparison: String, Sendable, Hashable, CaseIterable {
  /// Less than the limit.
  case less = "<"
  /// Less than the limit, or equal.
  case lessOrEqual = "<="
  /// Greater than the limit.
  case greater = ">"
  /// Greater than the limit, or equal.
  case greaterOrEqual = ">="
  /// Equal.
  case equal = "="
  /// Not equal.
  case notEqual = "!="

  /// Whether `a` is as compared with `b`.
  func holds<Number: Comparable>(_ a: Number, _ b: Number) -> Bool {
    switch self {
    case .less: a < b
    case .lessOrEqual: a <= b
    case .greater: a > b
    case .greaterOrEqual: a >= b
    case .equal: a == b
    case .notEqual: a != b
    }
  }

  /// Whether small readings raise the alarm.
  var isBelow: Bool { self == .less || self == .lessOrEqual }
  /// Whether the comparison is with one value, and not with a range.
  var isEquality: Bool { self == .equal || self == .notEqual }
}

/// The words of rules.
enum AlarmWords {
  /// Words that begin an option, so they must be in quotes where they are names.
  static let options = ["for", "hysteresis"]
  /// Words that begin a condition of another form.
  static let conditions = ["fault", "warning", "silent", "value"]

  /// Whether a name needs no quotes: letters, digits, `_`, `-` and `.`, and no word of an option.
  static func isWord(_ text: String) -> Bool {
    !text.isEmpty && text.allSatisfy(isOfWord) && !options.contains(text.lowercased())
  }

  static func isOfWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_" || character == "-" || character == "."
  }

  /// Whether the word means something else than the value of this name.
  static func isTaken(_ word: String) -> Bool {
    let word = word.lowercased()
    return conditions.contains(word) || AlarmSubject.Part(rawValue: word) != nil
  }

  /// The text in quotes, with `\` before quotes and backslashes.
  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for character in text {
      if character == "\"" || character == "\\" { quoted.append("\\") }
      quoted.append(character)
    }
    return quoted + "\""
  }

  /// The name as a word, or else in quotes.
  static func name(_ text: String) -> String { isWord(text) ? text : quoted(text) }
}
