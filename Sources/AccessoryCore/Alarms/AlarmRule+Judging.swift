// SPDX-License-Identifier: Apache-2.0

// What readings mean for a rule.

extension AlarmRule {
  /// What a reading means for a rule.
  struct Judgement: Sendable, Hashable {
    /// Whether the alarm's condition is met.
    var isMet: Bool
    /// Whether the reading is on the good side by more than the hysteresis.
    var isOver: Bool
    /// The value of the reading.
    var value: AlarmValue
  }

  /// How long a condition without hysteresis must be over before the alarm is cleared, so that one that comes and goes
  /// is one alarm.
  public static let settling = Duration.seconds(60)

  /// What the readings mean; nil while they don't say what the rule looks at, and for rules about silence.
  func judge(_ readings: AlarmReadings) -> Judgement? {
    switch condition {
    case .silence: return nil
    case .number(let subject, let comparison, let limit, let unit):
      guard let value = readings.value(subject, isBelow: comparison.isBelow), let number = value.number,
        let converted = Self.convert(number, value.unit, to: unit)
      else { return nil }
      return judge(converted, comparison, limit, unit ?? value.unit, subject)
    case .word(let subject, let comparison, let word):
      guard let value = readings.value(subject, isBelow: comparison.isBelow), let content = value.content else {
        return nil
      }
      return Self.judge(content, comparison, word, subject)
    case .fault(let name): return readings.faults.map { Self.judge($0, name) }
    case .warning(let name): return readings.battery?.warnings.map { Self.judge($0, name) }
    }
  }

  /// Whether the rule may look at the accessory's values.
  package var looksAtValues: Bool {
    switch condition {
    case .number(let subject, _, _, _), .word(let subject, _, _):
      switch subject {
      case .value: true
      case .part(let part): part.mayBeValue
      }
    case .fault: true
    case .warning, .silence: false
    }
  }

  /// How long the condition must be over before the alarm is cleared.
  var clearingDelay: Duration { hasHysteresis ? delay : max(delay, Self.settling) }

  /// Whether a hysteresis keeps a reading near the limit from raising the alarm again and again. The standard one has no
  /// effect where nothing is beyond the limit, as with 0 V.
  private var hasHysteresis: Bool {
    guard case .number(let subject, let comparison, let limit, let unit) = condition, !comparison.isEquality else {
      return false
    }
    let isSpread = subject.isSpread
    return hysteresis != nil
      || Self.standardDistance(limit.value, unit, isSpread: isSpread, isBelow: comparison.isBelow) > 0
  }

  // MARK: - Numbers

  /// The number in the limit's unit, in millionths; nil where the units don't fit. Without a unit, on either side, the
  /// number is taken as it is.
  private static func convert(_ number: Double, _ unit: MeasurementUnit?, to limit: MeasurementUnit?) -> Double? {
    guard let unit, let limit else { return number }
    return unit.convert(number, to: limit)
  }

  private func judge(
    _ number: Double, _ comparison: AlarmComparison, _ limit: AlarmNumber, _ unit: MeasurementUnit?,
    _ subject: AlarmSubject
  ) -> Judgement? {
    guard number.isFinite else { return nil }
    // Rounded, so that 3.3 V aren't less than 3300 mV.
    let reading = (number * 1_000_000).rounded() / 1_000_000
    let isMet = comparison.holds(reading, limit.value)
    let distance = distance(limit.value, unit, subject, comparison)
    let isOver: Bool
    if comparison.isEquality {
      isOver = !isMet
    } else if comparison.isBelow {
      isOver = !isMet && reading >= limit.value + distance
    } else {
      isOver = !isMet && reading <= limit.value - distance
    }
    return Judgement(isMet: isMet, isOver: isOver, value: AlarmValue(number, unit))
  }

  /// The hysteresis in the unit of the limit.
  private func distance(
    _ limit: Double, _ unit: MeasurementUnit?, _ subject: AlarmSubject, _ comparison: AlarmComparison
  ) -> Double {
    if let hysteresis {
      let distance = hysteresis.distance.value
      guard let own = hysteresis.unit, let unit else { return distance }
      return own.convert(difference: distance, to: unit) ?? distance
    }
    return Self.standardDistance(limit, unit, isSpread: subject.isSpread, isBelow: comparison.isBelow)
  }

  /// The standard hysteresis: 3 percentage points, 2 degrees, 2 % of a voltage, 20 % of a difference between cells, 0.1 %
  /// of a frequency, 5 % of anything else. Never so much that the good side would be beyond 0 or 100 %.
  static func standardDistance(_ limit: Double, _ unit: MeasurementUnit?, isSpread: Bool, isBelow: Bool) -> Double {
    let size = limit.magnitude
    if isSpread { return size * 0.2 }
    switch unit {
    case .percent: return isBelow ? (limit < 100 ? min(3, 100 - limit) : 3) : (limit > 0 ? min(3, limit / 2) : 3)
    case .celsius: return 2
    case .kelvin: return min(2, size * 0.1)
    case .volt, .millivolt: return size * 0.02
    case .hertz: return size * 0.001
    default: return size * 0.05
    }
  }

  // MARK: - Words and names

  private static func judge(
    _ content: AccessoryValue.Content, _ comparison: AlarmComparison, _ word: String, _ subject: AlarmSubject
  ) -> Judgement? {
    let own: String
    switch content {
    case .text(let text), .choice(let text, _): own = text
    case .flag(let flag):
      // A flag can be compared with any word for yes and no.
      guard let wanted = AlarmWords.flag(word) else { return nil }
      let isMet = (flag == wanted) == (comparison == .equal)
      return Judgement(isMet: isMet, isOver: !isMet, value: AlarmValue(text: flag ? "yes" : "no"))
    case .number: return nil
    }
    let isMet: Bool
    if case .part(let part) = subject, part.isOrdered {
      let order = part.words ?? []
      guard let place = order.firstIndex(of: own), let limit = order.firstIndex(of: word) else { return nil }
      isMet = comparison.holds(place, limit)
    } else {
      isMet = (own.lowercased() == word.lowercased()) == (comparison == .equal)
    }
    return Judgement(isMet: isMet, isOver: !isMet, value: AlarmValue(text: own))
  }

  /// `name` nil stands for any name.
  private static func judge(_ names: [String], _ name: String?) -> Judgement {
    let found = name.map { name in names.filter { $0.lowercased() == name.lowercased() } } ?? names
    let text = (found.isEmpty ? ["none"] : Array(found.prefix(8))).joined(separator: ", ")
    return Judgement(isMet: !found.isEmpty, isOver: found.isEmpty, value: AlarmValue(text: text))
  }
}
