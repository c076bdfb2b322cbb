// SPDX-License-Identifier: Apache-2.0

// Rules that can't be compared with what an accessory reports, and so never raise their alarm.

/// A rule that doesn't fit what an accessory reports.
public struct UnfitAlarm: Codable, Sendable, Hashable, CustomStringConvertible {
  /// The alarm's name.
  public var name: String
  /// The rule's text. This version may not understand the rule of a newer service.
  public var rule: String
  /// Why its alarm is never raised, as a sentence without its period.
  public var reason: String

  package init(rule: AlarmRule, reason: String) { (name, self.rule, self.reason) = (rule.name, rule.text, reason) }

  /// "low: pv_power < 5 V never raises an alarm: pv_power is in W, and the limit in V".
  public var description: String {
    // A rule without a name of its own is called by its condition, with which its text begins.
    let isCondition = rule == name || rule.hasPrefix(name + " hysteresis ") || rule.hasPrefix(name + " for ")
    return (isCondition ? "" : name + ": ") + rule + " never raises an alarm: \(reason)"
  }
}

extension AlarmRule {
  /// Why the rule can't be compared with these readings; nil where it can, and while what it looks at is unknown.
  func misfit(_ readings: AlarmReadings) -> String? {
    switch condition {
    case .number(let subject, let comparison, _, let limit):
      guard let value = readings.value(subject, isBelow: comparison.isBelow) else { return nil }
      switch value.content {
      case nil: return nil
      case .text, .flag: return "\(subject) is no number"
      case .number, .choice: return Self.misfit(subject, value.unit, limit: limit)
      }
    case .word(let subject, let comparison, let word):
      switch readings.value(subject, isBelow: comparison.isBelow)?.content {
      case .number: return "\(subject) is a number, and the limit a word"
      case .flag: return AlarmWords.flag(word) == nil ? "\(subject) is yes or no, and the limit \(word)" : nil
      case .text, .choice, nil: return nil
      }
    case .fault, .warning, .silence: return nil
    }
  }

  /// Why the rule can't be compared with values of these units by the name that it looks at. `units` are all units that
  /// the accessory may report the value in; nil in them stands for a number without a unit.
  package func misfit(units: (_ name: String) -> [MeasurementUnit?]) -> String? {
    guard case .number(let subject, _, _, let limit) = condition, case .value(let name) = subject else { return nil }
    let units = units(name)
    if units.isEmpty, let question { return "there is no value \(name): \(question)" }
    let reasons = units.map { Self.misfit(subject, $0, limit: limit) }
    return reasons.contains(nil) ? nil : reasons.first ?? nil
  }

  /// The question which part of the readings is meant, where the rule looks at a value whose name is nearly the word for one: "did
  /// you mean battery?" Nil for all other rules, also for names that begin with such a word, as the names of values do.
  package var question: String? {
    let subject: AlarmSubject
    switch condition {
    case .number(let known, _, _, _), .word(let known, _, _): subject = known
    case .fault, .warning, .silence: return nil
    }
    let parts = AlarmSubject.Part.allCases.map(\.rawValue)
    guard case .value(let name) = subject, name.count > 3, name.allSatisfy(\.isLetter),
      !parts.contains(where: { name.hasPrefix($0) }), let nearest = NearestWord.find(name, among: parts),
      nearest.distance <= 1
    else { return nil }
    return nearest.question
  }

  /// Without a unit, on either side, numbers are compared as they are.
  private static func misfit(_ subject: AlarmSubject, _ unit: MeasurementUnit?, limit: MeasurementUnit?) -> String? {
    guard let unit, let limit, !unit.measuresLike(limit) else { return nil }
    return "\(subject) is in \(SafeText.escape(unit.rawValue, limit: 24)), and the limit in \(limit)"
  }
}

extension AlarmWords {
  /// What a word for yes or no means; nil for any other word.
  static func flag(_ word: String) -> Bool? {
    let word = word.lowercased()
    return ["yes", "true", "on"].contains(word) ? true : ["no", "false", "off"].contains(word) ? false : nil
  }
}
