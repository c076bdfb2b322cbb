// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

/// The last readings of an accessory, their age, and which of them are new. A value that is given the time. Readings
/// have the time of the clock that counts the machine's sleep, too; news goes by the other.
struct Readings: Sendable {
  /// Something that was read, and when.
  struct Reading<Value: Sendable>: Sendable {
    var value: Value
    var time: MonotonicTime
  }

  /// How values were come by.
  enum Origin: Sendable, Hashable {
    /// It told them of its own accord: others may be as they were, and all of these are news.
    case told
    /// It was polled for them: others may be as they were, and these are news where they have changed.
    case polled
    /// It was asked for its values: these are all there are, and news where they have changed.
    case asked
  }

  private(set) var identity: Reading<AccessoryIdentity>?
  private(set) var battery: Reading<BatteryReading>?
  private(set) var status: Reading<AccessoryStatus>?
  private(set) var values: ValuesReading?
  /// How long what is read is fresh.
  var freshness = Freshness()
  /// Which values are to be told, and when.
  private var news = ValueNews()

  // MARK: - Taking in

  /// Keeps what it says it is.
  mutating func note(_ identity: AccessoryIdentity, at time: MonotonicTime) {
    self.identity = Reading(value: identity, time: time)
  }

  /// Keeps a reading, cut where a driver tells too much. Returns it, and whether it is another than the last.
  mutating func note(_ battery: BatteryReading, at time: MonotonicTime) -> (reading: BatteryReading, isNew: Bool) {
    let reading = battery.bounded
    let isNew = self.battery?.value != reading
    self.battery = Reading(value: reading, time: time)
    return (reading, isNew)
  }

  /// Keeps a status. Returns whether it is another than the last.
  mutating func note(_ status: AccessoryStatus, at time: MonotonicTime) -> Bool {
    let isNew = self.status?.value != status
    self.status = Reading(value: status, time: time)
    return isNew
  }

  /// Keeps values. Returns the names of those that are news.
  mutating func note(_ values: [AccessoryValue], _ origin: Origin, at time: MonotonicTime) -> Set<String> {
    let old = self.values
    var reading = origin == .asked ? ValuesReading() : old ?? ValuesReading()
    let changed = reading.take(values, at: time)
    self.values = reading
    switch origin {
    case .polled: return Set(changed.map(\.name))
    case .asked: return Set(reading.values.filter { old?[$0.name]?.value != $0 }.map(\.name))
    // By the names as they were kept: what was beyond the limit was not.
    case .told: return Set(ValuesReading(values, at: time).values.map(\.name).filter { reading[$0] != nil })
    }
  }

  // MARK: - News of values

  /// When values are to be told; nil when there are none.
  var newsDeadline: MonotonicTime? { news.deadline }

  /// These values are to be told.
  mutating func tell(_ names: Set<String>, now: MonotonicTime) { news.add(names, now: now) }

  /// The values that are to be told now.
  mutating func takeNews(now: MonotonicTime) -> [ValuesReading.Entry] { news.take(of: values, now: now) }

  /// Nobody is to be told any more of what was news.
  mutating func forgetNews() { news.forget() }

  // MARK: - Age

  /// How old something is that was read at `time`; never negative.
  static func age(of time: MonotonicTime, now: MonotonicTime) -> Duration { max(.zero, now - time) }

  /// Whether it should have been read again since.
  func isStale(_ part: AccessoryPoll.Part, _ time: MonotonicTime, now: MonotonicTime) -> Bool {
    freshness.isStale(part, age: Self.age(of: time, now: now))
  }

  /// How up to date status and battery are together: the age of the older one, and whether one is stale. Nil while neither
  /// was read.
  func age(now: MonotonicTime) -> (oldest: Duration, isStale: Bool)? {
    var ages: [AccessoryPoll.Part: Duration] = [:]
    ages[.status] = status.map { Self.age(of: $0.time, now: now) }
    ages[.battery] = battery.map { Self.age(of: $0.time, now: now) }
    let telling = freshness.telling(ages)
    guard let oldest = telling.values.max() else { return nil }
    return (oldest, telling.contains { freshness.isStale($0.key, age: $0.value) })
  }
}
