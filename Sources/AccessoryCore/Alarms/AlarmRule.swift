// SPDX-License-Identifier: Apache-2.0

/// A rule for an alarm: what is watched, and when that is alarming. `Documentation/alarms.md` describes its text.
public struct AlarmRule: Sendable, Hashable, CustomStringConvertible {
  /// What raises the alarm.
  public enum Condition: Sendable, Hashable {
    /// A number is beyond a limit, or equal to a number.
    case number(AlarmSubject, AlarmComparison, AlarmNumber, MeasurementUnit?)
    /// A word is, or isn't, this one. Levels of a battery can also be compared by their order.
    case word(AlarmSubject, AlarmComparison, String)
    /// The accessory reports a fault: the one of this name or number, or any (nil).
    case fault(String?)
    /// The accessory reports a warning: the one of this name, or any (nil).
    case warning(String?)
    /// Nothing was heard of the accessory for this long.
    case silence(Duration)
  }

  /// How far a reading must be on the good side of the limit before the alarm is cleared; without a unit in the limit's.
  public struct Hysteresis: Sendable, Hashable {
    /// The distance from the limit; not negative.
    public var distance: AlarmNumber
    /// The unit; nil for the limit's.
    public var unit: MeasurementUnit?
  }

  /// The name that the user gave it; nil for none.
  public var givenName: String?
  /// What raises the alarm.
  public var condition: Condition
  /// The hysteresis that the user chose; nil for the standard one.
  public var hysteresis: Hysteresis?
  /// How long the condition must last before the alarm is raised, and be over before it is cleared.
  public var delay: Duration

  /// The longest text of a rule, in bytes of UTF-8.
  public static let textLimit = 400
  /// The longest name, in bytes of UTF-8.
  public static let nameLimit = 64
  /// The most rules of one accessory.
  public static let countLimit = 32
  /// The longest delay.
  public static let delayLimit = Duration.seconds(7 * 86_400)
  /// The shortest and the longest time of silence.
  public static let silenceLimits = Duration.seconds(1) ... .seconds(30 * 86_400)

  init(_ condition: Condition, name: String? = nil, hysteresis: Hysteresis? = nil, delay: Duration = .zero) {
    (self.condition, givenName, self.hysteresis, self.delay) = (condition, name, hysteresis, delay)
  }

  /// Parses a rule. Throws `AlarmRuleError` with the column of the mistake and what was expected.
  public init(_ text: String) throws(AlarmRuleError) {
    self = try AlarmRuleParser.parse(text)
  }

  /// Parses a rule that has its name beside it, as in a YAML mapping.
  public init(_ text: String, name: String) throws(AlarmRuleError) {
    self = try AlarmRuleParser.parse(text, name: name)
  }

  /// The name: the one that the user gave it, or else the condition's text.
  public var name: String { givenName ?? conditionText }

  /// The rule without its name: "battery < 20 % for 2 min".
  public var text: String {
    var text = conditionText
    if let hysteresis { text += " hysteresis \(hysteresis.distance)" + (hysteresis.unit.map { " \($0)" } ?? "") }
    return delay == .zero ? text : text + " for \(AlarmTime.text(delay))"
  }

  /// The rule as it can be parsed again: "low: battery < 20 % for 2 min".
  public var description: String { (givenName.map { $0 + ": " } ?? "") + text }

  /// The condition, without hysteresis and delay.
  private var conditionText: String {
    switch condition {
    case .number(let subject, let comparison, let limit, let unit):
      "\(subject) \(comparison.rawValue) \(limit)" + (unit.map { " \($0)" } ?? "")
    case .word(let subject, let comparison, let word):
      "\(subject) \(comparison.rawValue) \(AlarmWords.limit(word))"
    case .fault(let name): "fault" + (name.map { " " + AlarmWords.name($0) } ?? "")
    case .warning(let name): "warning" + (name.map { " " + AlarmWords.name($0) } ?? "")
    case .silence(let time): "silent for \(AlarmTime.text(time))"
    }
  }
}

/// A mistake in the text of a rule.
public struct AlarmRuleError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The character at which the mistake is, counted from 1.
  public var column: Int
  /// What is wrong, and what was expected.
  public var message: String

  /// "column 9: …".
  public var description: String { "column \(column): \(message)" }
}

extension AlarmWords {
  /// A word to compare with; in quotes where it could be taken for a number.
  static func limit(_ word: String) -> String {
    let first = word.first
    let isLikeNumber = first.map { $0.isNumber || $0 == "-" || $0 == "+" || $0 == "." } ?? true
    return isLikeNumber ? quoted(word) : name(word)
  }
}

/// Times in rules: a number with its unit, such as "500 ms", "30 s", "5 min", "2 h", "1 d".
enum AlarmTime {
  private static let units: [(symbol: String, milliseconds: Int64)] = [
    ("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]
  /// Other spellings of units.
  private static let spellings = [
    "m": "min", "sec": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min", "hour": "h",
    "hours": "h", "day": "d", "days": "d",
  ]

  /// The time of this many units, in whole milliseconds; nil for an unknown unit or a time that is none of these.
  static func read(_ number: AlarmNumber, _ symbol: String) -> Duration? {
    let symbol = spellings[symbol] ?? symbol
    guard let unit = units.first(where: { $0.symbol == symbol }) else { return nil }
    let (product, overflow) = number.millionths.multipliedReportingOverflow(by: unit.milliseconds)
    guard !overflow, product >= 0, product.isMultiple(of: 1_000_000) else { return nil }
    return .milliseconds(product / 1_000_000)
  }

  /// The time in the largest unit in which it is a whole number.
  static func text(_ time: Duration) -> String {
    let milliseconds = time.inNanoseconds / 1_000_000
    let unit = units.last { milliseconds.isMultiple(of: $0.milliseconds) } ?? units[0]
    return "\(milliseconds / unit.milliseconds) \(unit.symbol)"
  }
}
