// SPDX-License-Identifier: Apache-2.0

/// A raised or cleared alarm of an accessory, as it is published. Its rule is a text, since it may be one of a later version.
public struct AccessoryAlarm: Codable, Sendable, Hashable {
  /// The alarm's name.
  public var name: String
  /// The text of its rule.
  public var rule: String
  /// Seconds since 1970, UTC, since when the alarm is raised, or was until now.
  public var since: Double
  /// The last known value of what the rule looks at, as text; nil where none is known.
  public var value: String?
  /// The same as a number; nil where it is none.
  public var number: Double?
  /// The unit of the number.
  public var unit: String?

  /// An alarm of these parts.
  public init(
    name: String, rule: String, since: Double, value: String? = nil, number: Double? = nil, unit: String? = nil
  ) {
    (self.name, self.rule, self.since) = (name, rule, since)
    (self.value, self.number, self.unit) = (value, number, unit)
  }

  /// An alarm that this program has found.
  public init(_ alarm: AlarmSet.Alarm) {
    self.init(
      name: alarm.rule.name, rule: alarm.rule.text, since: alarm.since, value: alarm.value?.text,
      number: alarm.value?.number.flatMap { $0.isFinite ? $0 : nil }, unit: alarm.value?.unit?.rawValue)
  }

  /// The longest text of a value, in bytes: several names of faults.
  private static let valueBytes = 1_024

  /// Reads what is published. A text or a time beyond its limit is an error.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try fields.decode(String.self, forKey: .name), rule: try fields.decode(String.self, forKey: .rule),
      since: try fields.decode(Double.self, forKey: .since),
      value: try fields.decodeIfPresent(String.self, forKey: .value),
      number: try fields.decodeIfPresent(Double.self, forKey: .number),
      unit: try fields.decodeIfPresent(String.self, forKey: .unit))
    try ReplyLimits.check(since, ReplyLimits.seconds, "since")
    if let number, !number.isFinite { throw ReplyNumberError("number", number) }
    try ReplyLimits.check(length: name, AlarmRule.textLimit, "name")
    try ReplyLimits.check(length: rule, AlarmRule.textLimit, "rule")
    try ReplyLimits.check(length: value, Self.valueBytes, "value")
    try ReplyLimits.check(length: unit, ReadingLimits.unitBytes, "unit")
  }
}

extension AlarmChange: Codable {}
