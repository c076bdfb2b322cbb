// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The wire format of alarms.

extension Bridge {
  package struct Alarm: Codable, Sendable, Hashable {
    package var name, rule: String
    /// Seconds since 1970, UTC, since when the alarm is raised, or was until now.
    package var since: Double
    package var value, unit: String?
    package var number: Double?

    package init(
      name: String, rule: String, since: Double, value: String? = nil, number: Double? = nil, unit: String? = nil
    ) {
      (self.name, self.rule, self.since) = (name, rule, since)
      (self.value, self.number, self.unit) = (value, number, unit)
    }

    /// Converts an alarm to the wire format. Its texts are cut to the limits.
    package init(_ alarm: AlarmSet.Alarm) {
      self.init(
        name: alarm.rule.name, rule: alarm.rule.text, since: alarm.since, value: alarm.value?.text,
        number: alarm.value?.number.flatMap { $0.isFinite ? $0 : nil }, unit: alarm.value?.unit?.rawValue)
    }
  }

  /// A rule that can't be compared with what the accessory reports.
  package struct UnfitAlarm: Codable, Sendable, Hashable {
    package var name, rule, reason: String

    /// Converts a rule to the wire format.
    package init(_ unfit: AccessoryCore.UnfitAlarm) {
      (name, rule, reason) = (unfit.rule.name, unfit.rule.text, unfit.reason)
    }
  }

  /// What has become of an alarm.
  package enum AlarmState: String, Codable, Sendable, Hashable, CaseIterable {
    case raised, cleared

    package init(_ change: AlarmChange) { self = change == .raised ? .raised : .cleared }
  }
}

extension Bridge.Alarm: CheckedReply {
  /// The longest text of a value: several names of faults.
  private static let valueBytes = 1_024

  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(since, ReplyLimits.seconds, "since")
    if let number, !number.isFinite { throw ReplyNumberError("number", number) }
    try ReplyLimits.check(length: name, AlarmRule.textLimit, "name")
    try ReplyLimits.check(length: rule, AlarmRule.textLimit, "rule")
    try ReplyLimits.check(length: value, Self.valueBytes, "value")
    try ReplyLimits.check(length: unit, ReadingLimits.unitBytes, "unit")
  }

  /// Throws when there are too many alarms of one accessory, or when one is beyond its limits.
  static func check(_ alarms: [Self]) throws(ReplyNumberError) {
    try ReplyLimits.check(alarms.count, 0...AlarmRule.countLimit, "the number of alarms")
    for alarm in alarms { try alarm.check() }
  }
}

extension Bridge.UnfitAlarm: CheckedReply {
  /// The longest reason: it has the name of a value, and units.
  private static let reasonBytes = 1_024

  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(length: name, AlarmRule.textLimit, "name")
    try ReplyLimits.check(length: rule, AlarmRule.textLimit, "rule")
    try ReplyLimits.check(length: reason, Self.reasonBytes, "reason")
  }

  /// Throws when there are too many rules of one accessory, or when one is beyond its limits.
  static func check(_ unfit: [Self]) throws(ReplyNumberError) {
    try ReplyLimits.check(unfit.count, 0...AlarmRule.countLimit, "the number of unfit alarms")
    for one in unfit { try one.check() }
  }
}
