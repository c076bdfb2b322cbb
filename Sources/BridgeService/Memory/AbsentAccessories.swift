// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The accessories that were attached and are gone, by their identities, with their last readings and raised alarms. They are bounded: who
/// plugs in thousands of devices drives out those that were there for the shortest time and have no name of their own. It has no clock.
struct AbsentAccessories: Sendable {
  private struct Entry: Sendable {
    var record: Bridge.Accessory
    /// The record as it is written.
    var line: String
    var isNamed: Bool

    /// Whether this one goes first when there is no room.
    func goes(before other: Entry) -> Bool {
      if isNamed != other.isNamed { return other.isNamed }
      let (stay, others) = (record.secondsThere, other.record.secondsThere)
      return stay != others ? stay < others : (record.last_seen ?? 0) < (other.record.last_seen ?? 0)
    }
  }

  private var entries: [String: Entry] = [:]
  private var byteCount = 0

  /// The most accessories, and the most bytes of all as they are written.
  static let (countLimit, byteLimit) = (256, 4 << 20)

  /// The accessories in the order of their identities.
  var all: [Bridge.Accessory] { entries.sorted { $0.key < $1.key }.map(\.value.record) }

  var isEmpty: Bool { entries.isEmpty }

  /// When the first of them was last there, in seconds since 1970.
  var earliest: Double? { entries.values.lazy.compactMap(\.record.last_seen).min() }

  /// Keeps an accessory that has gone. Returns those that must make room for it, which may be itself.
  mutating func keep(_ record: Bridge.Accessory, isNamed: Bool) -> [Bridge.Accessory] {
    var record = record
    (record.absent, record.state, record.stale, record.fresh_ms) = (true, .failed, true, nil)
    (record.tries, record.tries_limit, record.next_try_ms, record.holder, record.missing) = (0, nil, nil, nil, nil)
    record.device.given = nil
    _ = take(id: record.device.id)
    guard let line = (try? JSON(encoding: record))?.line else { return [] }
    entries[record.device.id] = Entry(record: record, line: line, isNamed: isNamed)
    byteCount += line.utf8.count
    var left: [Bridge.Accessory] = []
    while entries.count > Self.countLimit || byteCount > Self.byteLimit,
      let first = entries.min(by: { $0.value.goes(before: $1.value) })?.key, let record = take(id: first)
    {
      left.append(record)
    }
    return left
  }

  /// Takes an accessory away.
  mutating func take(id: String) -> Bridge.Accessory? {
    guard let entry = entries.removeValue(forKey: id) else { return nil }
    byteCount -= entry.line.utf8.count
    return entry.record
  }

  /// Takes those away that this device is: it has the identity of one, or had it before it was known that there are several.
  mutating func take(_ device: Device) -> [Bridge.Accessory] {
    let same = entries.filter { $0.key == device.id || SameAgain($0.value.record.device).fits(device) }.keys.sorted()
    return same.compactMap { take(id: $0) }
  }

  /// Takes those away that were last there before this time, in seconds since 1970.
  mutating func take(before time: Double) -> [Bridge.Accessory] {
    entries.filter { ($0.value.record.last_seen ?? 0) < time }.keys.sorted().compactMap { take(id: $0) }
  }

  /// Notes whether an accessory has a name of its own.
  mutating func note(_ id: String, isNamed: Bool) { entries[id]?.isNamed = isNamed }

  // MARK: - As text

  /// The accessories as lines of JSON.
  var lines: [String] { entries.sorted { $0.key < $1.key }.map(\.value.line) }
}

extension Bridge.Accessory {
  /// How long it was there last.
  fileprivate var secondsThere: Double { max(0, (last_seen ?? 0) - (connected_since ?? last_seen ?? 0)) }

  /// The same, as it is now if it was so at the time `seen`; both in seconds since 1970.
  func aged(since seen: Double?, _ wallClock: Double) -> Self {
    aged(by: seen.map { Int(min(max(0, wallClock - $0), 1e9) * 1_000) } ?? 0)
  }

  /// The same, as it is this time later, or earlier where it is negative.
  func aged(by milliseconds: Int) -> Self {
    var record = self
    record.readings_age_ms = readings_age_ms.map { min(max(0, $0 + milliseconds), ReplyLimits.count.upperBound) }
    record.last?.values = last?.values?.map { value in
      Read(value.value, age: value.age.map { max(.zero, $0 + .milliseconds(milliseconds)) }, isStale: true)
    }
    return record
  }
}
