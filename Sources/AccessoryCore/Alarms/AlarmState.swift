// SPDX-License-Identifier: Apache-2.0

/// What has become of an alarm.
public enum AlarmChange: String, Sendable, Hashable, CaseIterable {
  /// It was raised.
  case raised
  /// It was cleared.
  case cleared
}

/// The state of one rule for one accessory. It has no clock and no timer: its owner passes the readings and the time,
/// and calls `timePassed` at the deadline.
///
/// A reading beyond the limit counts until one is on the good side by more than the hysteresis. When that has lasted for
/// the rule's delay, the alarm is raised, and in the same way it is cleared. A reading that doesn't say what the rule
/// looks at changes nothing, and the delay isn't over before one does.
public struct AlarmState: Sendable, Hashable {
  /// The rule.
  public let rule: AlarmRule
  /// Whether the alarm is raised.
  public private(set) var isRaised = false
  /// The last known value of what the rule looks at; nil while none is known, and for silence.
  public private(set) var value: AlarmValue?
  /// Why the last known reading can't be compared with the limit; nil where it can.
  public private(set) var misfit: String?
  /// When `timePassed` is to be called; nil for not before the next reading.
  public private(set) var deadline: MonotonicTime?

  /// Whether the last known reading was beyond the limit, with hysteresis.
  private var isMet = false
  /// Since when `isMet` differs from `isRaised`.
  private var start: MonotonicTime?
  /// When the accessory was last heard, for silence; nil while silence isn't counted.
  private var heard: MonotonicTime?
  /// When a silent accessory was first heard again.
  private var firstHeard: MonotonicTime?

  /// The state of a rule from `now` on: not raised. Silence is counted from now on.
  public init(_ rule: AlarmRule, now: MonotonicTime) {
    self.rule = rule
    if let limit = silence { (heard, deadline) = (now, now + limit) }
  }

  /// The time of silence after which the alarm is raised; nil for rules of other kinds.
  private var silence: Duration? { if case .silence(let time) = rule.condition { time } else { nil } }

  // MARK: - Readings

  /// Takes the accessory's readings. Returns what has become of the alarm; nil for no change.
  public mutating func take(_ readings: AlarmReadings, now: MonotonicTime) -> AlarmChange? {
    guard silence == nil else { return nil }
    guard let judgement = rule.judge(readings) else {
      misfit = rule.misfit(readings) ?? misfit
      deadline = nil
      return nil
    }
    (value, misfit) = (judgement.value, nil)
    if judgement.isMet { isMet = true } else if judgement.isOver { isMet = false }
    guard isMet != isRaised else {
      (start, deadline) = (nil, nil)
      return nil
    }
    let began = start ?? now
    start = began
    deadline = began + (isMet ? rule.delay : rule.clearingDelay)
    return timePassed(now: now)
  }

  /// Changes the state when its deadline has come. Returns what has become of the alarm; nil for no change.
  public mutating func timePassed(now: MonotonicTime) -> AlarmChange? {
    guard let due = deadline, due <= now else { return nil }
    (start, deadline, firstHeard) = (nil, nil, nil)
    isRaised = silence != nil || isMet
    return isRaised ? .raised : .cleared
  }

  /// The accessory is gone: a raised alarm stays, and nothing is about to change. Silence is counted further.
  mutating func suspend() {
    guard silence == nil else { return }
    (isMet, start, deadline, misfit) = (isRaised, nil, nil, nil)
  }

  /// The alarm was raised before this program has seen the accessory.
  mutating func restore() {
    isRaised = true
    if silence == nil { isMet = true } else { deadline = nil }
  }

  // MARK: - Silence

  /// Notes that the accessory was heard. A raised alarm is cleared when it is heard again and again, with pauses clearly
  /// shorter than the rule's time, over at least a tenth of that time: an accessory whose pauses are about as long as
  /// the rule's time is one alarm.
  public mutating func heard(now: MonotonicTime) -> AlarmChange? {
    guard let limit = silence, let last = heard else { return nil }
    heard = now
    guard isRaised else {
      deadline = now + limit
      return nil
    }
    guard let first = firstHeard, now - last < limit * 9 / 10 else {
      firstHeard = now
      return nil
    }
    guard now - first >= limit / 10 else { return nil }
    (isRaised, firstHeard, deadline) = (false, nil, now + limit)
    return .cleared
  }

  /// Stops counting silence, while nothing can be heard of the accessory because another program uses it.
  public mutating func pauseSilence() {
    guard silence != nil else { return }
    (heard, firstHeard, deadline) = (nil, nil, nil)
  }

  /// Counts silence again, from now on.
  public mutating func resumeSilence(now: MonotonicTime) {
    guard let limit = silence, heard == nil else { return }
    heard = now
    if !isRaised { deadline = now + limit }
  }
}
