// SPDX-License-Identifier: Apache-2.0

/// What a rule looks at: a part of the battery reading or of the status, or one of the accessory's values.
///
/// If the accessory doesn't report a part that has a single word for a name, the value of that name is meant.
public enum AlarmSubject: Sendable, Hashable, CustomStringConvertible {
  /// A part of the battery reading or of the status. The raw values are the words in a rule.
  public enum Part: String, Sendable, Hashable, CaseIterable {
    /// The charge, in percent.
    case battery
    /// The level, from critical to full.
    case level = "battery level"
    /// What the battery is doing: charging, discharging, not_charging or full.
    case charge
    /// The battery's voltage.
    case voltage
    /// The battery's current, negative while discharging.
    case current
    /// The voltage of a cell: the lowest one for an alarm below a limit, otherwise the highest one.
    case cellVoltage = "cell voltage"
    /// The difference between the highest and the lowest cell.
    case cellSpread = "cell spread"
    /// The battery's temperature: the lowest one for an alarm below a limit, otherwise the highest one.
    case temperature
    /// How long the battery lasts.
    case timeToEmpty = "time to empty"
    /// How long charging takes.
    case timeToFull = "time to full"
    /// The remaining charge.
    case capacity
    /// The charge of the full battery, in percent of a new one's.
    case health
    /// Charging cycles.
    case cycles
    /// What the accessory is doing: idle, busy, paused or fault.
    case state
    /// How much of the accessory's work is done, in percent.
    case progress

    /// The unit of the part's numbers; nil for words and for plain numbers.
    public var unit: MeasurementUnit? {
      switch self {
      case .battery, .health, .progress: .percent
      case .voltage, .cellVoltage, .cellSpread: .volt
      case .current: .ampere
      case .temperature: .celsius
      case .timeToEmpty, .timeToFull: .second
      case .capacity: .ampereHour
      case .level, .charge, .cycles, .state: nil
      }
    }

    /// The words that the part may be, in their order; nil for numbers.
    var words: [String]? {
      switch self {
      case .level: ["critical", "low", "normal", "high", "full"]
      case .charge: ["charging", "discharging", "not_charging", "full"]
      case .state: ["idle", "busy", "paused", "fault"]
      default: nil
      }
    }

    /// Whether a limit without a unit is in `unit`. Where two units are usual, a rule must say which.
    var needsNoUnit: Bool { unit == nil || unit == .percent || unit == .celsius }

    /// Whether the value of the same name is meant where the accessory doesn't report the part.
    var mayBeValue: Bool { !rawValue.contains(" ") }
  }

  /// A part of the battery reading or of the status.
  case part(Part)
  /// The value of this name.
  case value(String)

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
