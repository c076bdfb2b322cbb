// SPDX-License-Identifier: Apache-2.0

/// The rules of one accessory, with their states. Like `AlarmState` it has no clock. `wallClock` is in seconds since 1970,
/// UTC, and is only reported.
public struct AlarmSet: Sendable {
  /// An alarm, with the time since which it is raised, or at which it was cleared.
  public struct Alarm: Sendable, Hashable {
    /// The rule.
    public var rule: AlarmRule
    /// Seconds since 1970, UTC, since when it is raised; of a cleared alarm, since when it was.
    public var since: Double
    /// The last known value of what the rule looks at.
    public var value: AlarmValue?
  }

  /// An alarm that was raised or cleared.
  public struct News: Sendable, Hashable {
    /// What has become of it.
    public var change: AlarmChange
    /// The alarm.
    public var alarm: Alarm
  }

  private struct Entry: Sendable {
    var state: AlarmState
    var since = 0.0
    /// Whether `takeNewUnfit` has returned it.
    var isReported = false

    var alarm: Alarm { Alarm(rule: state.rule, since: since, value: state.value) }

    mutating func news(_ change: AlarmChange?, _ wallClock: Double) -> News? {
      guard let change else { return nil }
      if change == .raised { since = wallClock }
      return News(change: change, alarm: alarm)
    }
  }

  private var entries: [Entry]

  /// The rules from `now` on, none of them raised. Rules beyond `AlarmRule.countLimit` are dropped.
  public init(_ rules: [AlarmRule], now: MonotonicTime) {
    entries = rules.prefix(AlarmRule.countLimit).map { Entry(state: AlarmState($0, now: now)) }
  }

  /// The rules.
  public var rules: [AlarmRule] { entries.map(\.state.rule) }
  /// The raised alarms, in the order of the rules.
  public var raised: [Alarm] { entries.filter(\.state.isRaised).map(\.alarm) }
  /// Whether there is no rule.
  public var isEmpty: Bool { entries.isEmpty }
  /// Whether a rule is about silence.
  public var watchesSilence: Bool {
    entries.contains { if case .silence = $0.state.rule.condition { true } else { false } }
  }
  /// When `timePassed` is to be called; nil for not before the next reading.
  public var deadline: MonotonicTime? { entries.compactMap(\.state.deadline).min() }

  /// The rules that can't be compared with what the accessory reported, so that their alarms are never raised.
  public var unfit: [UnfitAlarm] {
    entries.compactMap { entry in entry.state.misfit.map { UnfitAlarm(rule: entry.state.rule, reason: $0) } }
  }

  /// Those rules of `unfit` that weren't returned before.
  public mutating func takeNewUnfit() -> [UnfitAlarm] {
    var unfit: [UnfitAlarm] = []
    for index in entries.indices where !entries[index].isReported {
      guard let reason = entries[index].state.misfit else { continue }
      entries[index].isReported = true
      unfit.append(UnfitAlarm(rule: entries[index].state.rule, reason: reason))
    }
    return unfit
  }

  /// Takes the accessory's readings, which also means that it was heard.
  public mutating func take(_ readings: AlarmReadings, now: MonotonicTime, wallClock: Double) -> [News] {
    change(wallClock) { state in state.heard(now: now) ?? state.take(readings, now: now) }
  }

  /// Notes that the accessory was heard.
  public mutating func heard(now: MonotonicTime, wallClock: Double) -> [News] {
    change(wallClock) { $0.heard(now: now) }
  }

  /// To be called at the deadline.
  public mutating func timePassed(now: MonotonicTime, wallClock: Double) -> [News] {
    change(wallClock) { $0.timePassed(now: now) }
  }

  /// Stops counting silence, while another program uses the accessory.
  public mutating func pauseSilence() { for index in entries.indices { entries[index].state.pauseSilence() } }

  /// Counts silence again, from now on.
  public mutating func resumeSilence(now: MonotonicTime) {
    for index in entries.indices { entries[index].state.resumeSilence(now: now) }
  }

  /// Replaces the rules. Rules that stay keep their state. Returns the alarms that are cleared because their rules went.
  public mutating func use(_ rules: [AlarmRule], now: MonotonicTime) -> [News] {
    let old = entries
    entries = rules.prefix(AlarmRule.countLimit).map { rule in
      old.first { $0.state.rule == rule } ?? Entry(state: AlarmState(rule, now: now))
    }
    let kept = Set(self.rules)
    return old.filter { $0.state.isRaised && !kept.contains($0.state.rule) }.map {
      .init(change: .cleared, alarm: $0.alarm)
    }
  }

  /// The accessory is gone, so nothing is known of it any more: raised alarms stay raised until it is read again, and what was about to
  /// be raised or cleared isn't. Silence is counted further.
  public mutating func suspend() { for index in entries.indices { entries[index].state.suspend() } }

  /// Raises the alarms that an accessory had when it was last watched, of the rules that are still the same. Nothing is told.
  package mutating func restore(_ alarms: [AccessoryAlarm]) {
    for index in entries.indices where !entries[index].state.isRaised {
      let rule = entries[index].state.rule
      guard let alarm = alarms.first(where: { $0.name == rule.name && $0.rule == rule.text }) else { continue }
      entries[index].since = alarm.since
      entries[index].state.restore()
    }
  }

  private mutating func change(_ wallClock: Double, _ body: (inout AlarmState) -> AlarmChange?) -> [News] {
    entries.indices.compactMap { entries[$0].news(body(&entries[$0].state), wallClock) }
  }
}
