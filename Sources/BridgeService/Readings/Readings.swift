// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

/// The last readings of an accessory, their ages, and the changes to report to subscribers. It has no clock: its
/// owner passes the time. Readings use the boot time, which also counts the machine's sleep; the pauses between reports
/// of changed values use the clock that doesn't.
struct Readings: Sendable {
  /// A value that was read, with the time of the reading.
  struct Reading<Value: Sendable>: Sendable {
    var value: Value
    var time: MonotonicTime
  }

  /// How values were obtained.
  enum Origin: Sendable, Hashable {
    /// The accessory sent them by itself. Other values stay, and all of these are reported.
    case reported
    /// A poll returned them. Other values stay, and changed ones are reported.
    case polled
    /// The accessory was asked for all its values. They replace all others, and changed ones are reported.
    case asked
  }

  private(set) var identity: Reading<AccessoryIdentity>?
  private(set) var battery: Reading<BatteryReading>?
  private(set) var status: Reading<AccessoryStatus>?
  private(set) var values: ValuesReading?
  /// What the accessory doesn't answer or refuses; nil if nothing is known to be missing.
  var missing: String?
  /// What the log says of that.
  var loggedMissing: String?
  /// How long readings are fresh.
  var freshness = Freshness()
  /// When the accessory itself last sent a part; see `Accessory.toldTime`.
  var toldTime: @Sendable (AccessoryPoll.Part) -> MonotonicTime? = { _ in nil }
  var polls = PollSchedule()
  /// The changed values to report, and when.
  private var news = ValueNews()

  // MARK: - Storing

  /// Stores the identity.
  mutating func note(_ identity: AccessoryIdentity, at time: MonotonicTime) {
    self.identity = Reading(value: identity, time: time)
  }

  /// Stores a reading, which is bounded in size. Returns the stored reading, and whether it differs from the last one.
  mutating func note(_ battery: BatteryReading, at time: MonotonicTime) -> (reading: BatteryReading, isNew: Bool) {
    let reading = battery.bounded
    let isNew = self.battery?.value != reading
    self.battery = Reading(value: reading, time: min(time, toldTime(.battery) ?? time))
    return (reading, isNew)
  }

  /// Stores a status. Returns whether it differs from the last one.
  mutating func note(_ status: AccessoryStatus, at time: MonotonicTime) -> Bool {
    let isNew = self.status?.value != status
    self.status = Reading(value: status, time: min(time, toldTime(.status) ?? time))
    return isNew
  }

  /// Stores values. Returns the names of those to report.
  mutating func note(_ values: [AccessoryValue], _ origin: Origin, at time: MonotonicTime) -> Set<String> {
    let old = self.values
    var reading = origin == .asked ? ValuesReading() : old ?? ValuesReading()
    // Asking for a value that the accessory sends by itself doesn't make its last value newer.
    let changed = reading.take(values, at: origin == .asked ? min(time, toldTime(.values) ?? time) : time)
    self.values = reading
    switch origin {
    case .polled: return Set(changed.map(\.name))
    case .asked: return Set(reading.values.filter { old?[$0.name]?.value != $0 }.map(\.name))
    // Only names that were stored: values beyond the limit are left out.
    case .reported: return Set(ValuesReading(values, at: time).values.map(\.name).filter { reading[$0] != nil })
    }
  }

  // MARK: - Reports of values

  /// When to report changed values; nil if there are none.
  var newsDeadline: MonotonicTime? { news.deadline }

  /// Marks these values to be reported.
  mutating func tell(_ names: Set<String>, now: MonotonicTime) { news.add(names, now: now) }

  /// The values to report now; marks them as reported.
  mutating func takeNews(now: MonotonicTime) -> [ValuesReading.Entry] { news.take(of: values, now: now) }

  /// Reports none of the marked values.
  mutating func forgetNews() { news.forget() }

  /// What was read last, with the ages of values.
  func last(now: MonotonicTime) -> Bridge.LastReadings {
    Bridge.LastReadings(
      battery: battery?.value, status: status?.value,
      values: values?.entries.map { Read($0.value, age: Self.age(of: $0.time, now: now)) }, identity: identity?.value)
  }

  /// Whether anything was read.
  var hasAny: Bool { battery != nil || status != nil || values != nil }

  // MARK: - Age

  /// The age of a reading that was made at `time`; never negative.
  static func age(of time: MonotonicTime, now: MonotonicTime) -> Duration { max(.zero, now - time) }

  /// When this part was last read or sent; for values, the time of the newest one. Nil if unknown.
  func time(of part: AccessoryPoll.Part) -> MonotonicTime? {
    switch part {
    // The accessory may send it repeatedly without a change. Nothing reports that.
    case .status: status.map { max($0.time, toldTime(.status) ?? $0.time) }
    case .battery: battery?.time
    case .values: values?.entries.map(\.time).max()
    }
  }

  /// Whether the reading should have been renewed since `time`.
  func isStale(_ part: AccessoryPoll.Part, _ time: MonotonicTime, now: MonotonicTime) -> Bool {
    freshness.isStale(part, age: Self.age(of: time, now: now))
  }

  /// Whether this part should have been renewed by now.
  func isStale(_ part: AccessoryPoll.Part, now: MonotonicTime) -> Bool {
    time(of: part).map { isStale(part, $0, now: now) } ?? false
  }

  /// Whether the accessory should have sent this part by now, even without a change.
  func isOverdue(_ part: AccessoryPoll.Part, now: MonotonicTime) -> Bool {
    (toldTime(part) ?? time(of: part)).map { isStale(part, $0, now: now) } ?? false
  }

  /// The age of the readings: that of the older one of status and battery, whether one of them is stale, and the time until one
  /// becomes stale. If the accessory has neither, the age of its newest value. Nil if nothing was read.
  ///
  /// This is the only place that decides this. Lists and events report the result, and programs that show readings repeat it.
  func age(now: MonotonicTime) -> Bridge.ReadingsAge? {
    func ages(_ parts: [AccessoryPoll.Part]) -> [AccessoryPoll.Part: Duration] {
      var ages: [AccessoryPoll.Part: Duration] = [:]
      for part in parts { ages[part] = time(of: part).map { Self.age(of: $0, now: now) } }
      return ages
    }
    let main = ages([.status, .battery])
    let telling = freshness.telling(main.isEmpty ? ages([.values]) : main)
    guard let oldest = telling.values.max() else { return nil }
    let isStale = telling.contains { freshness.isStale($0.key, age: $0.value) }
    let rests = telling.compactMap { freshness.rest($0.key, age: $0.value) }
    return Bridge.ReadingsAge(oldest: oldest, isStale: isStale, fresh: isStale ? nil : rests.min(), missing: missing)
  }
}
