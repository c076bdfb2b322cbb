// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The alarms of all accessories: of a service, or of a command that has rules of its own. They outlive an accessory's attachment, so
/// that silence counts while the accessory is disconnected.
/// This type has no clock and no timer: its owner passes the times and calls `timePassed` at the deadline.
package struct AlarmBook: Sendable {
  /// What happened to an alarm, and to which accessory.
  package struct News: Sendable {
    package var device: Device
    package var news: AlarmSet.News
  }

  private struct Record: Sendable {
    var set: AlarmSet
    var device: Device
    /// Whether the service holds the accessory or tries to.
    var isHeld = true
  }

  private var records: [String: Record] = [:]
  /// The greatest number of accessories with alarms.
  private let limit: Int

  package init(limit: Int) { self.limit = limit }

  /// When to call `timePassed`; nil if nothing changes before the next reading.
  package var deadline: MonotonicTime? { records.values.compactMap(\.set.deadline).min() }

  /// Whether silence is counted for an accessory that the service doesn't hold.
  var awaitsSilence: Bool { records.values.contains { !$0.isHeld && $0.set.deadline != nil } }

  /// The next time at which this accessory's alarms can change.
  package func deadline(of key: String) -> MonotonicTime? { records[key]?.set.deadline }

  /// Whether the accessory has rules.
  func watches(_ key: String) -> Bool { records[key] != nil }

  /// The raised alarms of an accessory.
  func raised(_ key: String) -> [AlarmSet.Alarm] { records[key]?.set.raised ?? [] }

  /// The rules that can't be compared with what the accessory reported.
  func unfit(_ key: String) -> [UnfitAlarm] { records[key]?.set.unfit ?? [] }

  /// The rules of `unfit` that this method hasn't returned before.
  package mutating func takeNewUnfit(_ key: String) -> [UnfitAlarm] { records[key]?.set.takeNewUnfit() ?? [] }

  /// All raised alarms, sorted by accessory name.
  var raised: [(key: String, device: Device, alarm: AlarmSet.Alarm)] {
    records.sorted { $0.key < $1.key }.flatMap { key, record in record.set.raised.map { (key, record.device, $0) } }
  }

  // MARK: - Accessories

  /// Starts to watch an accessory by these rules, or replaces its rules. Rules that stay keep their state, even if the accessory was
  /// disconnected. `raised` are the alarms that an accessory had when it was last watched.
  package mutating func watch(
    _ key: String, _ device: Device, _ rules: [AlarmRule], raised: [AccessoryAlarm] = [], now: MonotonicTime
  ) -> [News] {
    guard var record = records[key] else {
      guard !rules.isEmpty else { return [] }
      if records.count >= limit {
        guard let away = records.first(where: { !$0.value.isHeld })?.key else { return [] }
        records[away] = nil
      }
      var set = AlarmSet(rules, now: now)
      set.restore(raised)
      records[key] = Record(set: set, device: device)
      return []
    }
    (record.device, record.isHeld) = (device, true)
    let news = record.set.use(rules, now: now)
    records[key] = rules.isEmpty ? nil : record
    return tell(news, device)
  }

  /// The accessory is no longer attached. With `isAway` it was unplugged: its raised alarms stay, and silence counts.
  /// Otherwise the user detached or forgot it, and all its alarms are cleared and forgotten.
  mutating func drop(_ key: String, isAway: Bool, now: MonotonicTime) -> [News] {
    guard var record = records[key] else { return [] }
    guard isAway, record.set.watchesSilence || !record.set.raised.isEmpty else {
      records[key] = nil
      return tell(record.set.use([], now: now), record.device)
    }
    record.set.suspend()
    record.isHeld = false
    record.set.resumeSilence(now: now)
    records[key] = record
    return []
  }

  // MARK: - Readings

  /// Takes an accessory's readings. `wallClock` is in seconds since 1970, UTC.
  package mutating func take(_ key: String, _ readings: AlarmReadings, now: MonotonicTime, wallClock: Double) -> [News]
  {
    change(key) { $0.take(readings, now: now, wallClock: wallClock) }
  }

  /// Notes a sign of life from an accessory.
  mutating func heard(_ key: String, now: MonotonicTime, wallClock: Double) -> [News] {
    change(key) { $0.heard(now: now, wallClock: wallClock) }
  }

  /// Counts silence, or stops doing so while another program uses the accessory.
  mutating func countSilence(_ key: String, _ isCounted: Bool, now: MonotonicTime) {
    if isCounted { records[key]?.set.resumeSilence(now: now) } else { records[key]?.set.pauseSilence() }
  }

  /// Call this at the deadline.
  package mutating func timePassed(now: MonotonicTime, wallClock: Double) -> [News] {
    let due = records.filter { record in record.value.set.deadline.map { $0 <= now } ?? false }.keys.sorted()
    return due.flatMap { key in change(key) { $0.timePassed(now: now, wallClock: wallClock) } }
  }

  private mutating func change(_ key: String, _ body: (inout AlarmSet) -> [AlarmSet.News]) -> [News] {
    guard var record = records[key] else { return [] }
    let news = body(&record.set)
    records[key] = record
    return tell(news, record.device)
  }

  private func tell(_ news: [AlarmSet.News], _ device: Device) -> [News] {
    news.map { News(device: device, news: $0) }
  }
}
