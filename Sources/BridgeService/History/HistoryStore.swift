// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The histories of all accessories by identity, at most `byteLimit` bytes together. It has no clock: its owner passes the time, in
/// seconds of the history's timeline.
struct HistoryStore: Sendable {
  private(set) var accessories: [String: AccessoryHistory] = [:]
  /// An upper bound of the bytes that all histories take.
  private(set) var byteCount = 0
  let byteLimit: Int
  /// The accessories with buckets that haven't been written.
  private(set) var unwritten: Set<String> = []
  /// The accessories with more values than `HistoryLadder.seriesLimit` allows.
  private(set) var overfull: Set<String> = []

  init(byteLimit: Int = HistoryLadder.totalByteLimit) { self.byteLimit = byteLimit }

  /// Adds a reading. Returns false for the first value that exceeds the accessory's number of series.
  @discardableResult
  mutating func add(_ id: String, _ name: String, unit: String?, _ value: Double, at time: Double) -> Bool {
    let isKept = change(id) { $0.add(name, unit: unit, value, at: time) }
    if isKept { unwritten.insert(id) }
    return isKept || !overfull.insert(id).inserted
  }

  /// Adds buckets of an accessory from a file.
  mutating func restore(_ id: String, _ name: String, unit: String?, _ buckets: [HistoryBucket], rung: Int) {
    change(id) { $0.restore(name, unit: unit, buckets, rung: rung) }
  }

  /// Notes that an accessory is disconnected.
  mutating func interrupt(_ id: String) { accessories[id]?.interrupt() }

  /// Drops the finest buckets of series of which a file lacks the last ones. Returns whether it dropped some.
  mutating func dropUnfinished() -> Bool {
    var hasDropped = false
    for id in accessories.keys where accessories[id]?.dropUnfinished() == true { hasDropped = true }
    return hasDropped
  }

  /// Returns the buckets that have changed since the last call. The finest ones only with `finest`: they are many, and the coarser ones
  /// have the same readings.
  mutating func takeUnwritten(finest: Bool) -> [HistoryEntry] {
    let ids = finest ? Array(accessories.keys) : Array(unwritten)
    unwritten = []
    return ids.sorted().flatMap { id in
      (accessories[id]?.takeUnwritten(finest: finest) ?? []).flatMap { series in
        series.rungs.enumerated().compactMap { rung, buckets in
          buckets.isEmpty
            ? nil : HistoryEntry(id: id, name: series.name, unit: series.unit, rung: rung, buckets: Array(buckets))
        }
      }
    }
  }

  /// Notes that all buckets are written, the finest ones only with `finest`: otherwise these are all written later.
  mutating func wroteAll(finest: Bool) {
    _ = takeUnwritten(finest: finest)
    if !finest { for id in accessories.keys { accessories[id]?.forgetFinest() } }
  }

  /// All buckets.
  var entries: [HistoryEntry] { entries(finest: true) }

  /// All buckets, the finest ones only with `finest`.
  func entries(finest: Bool) -> [HistoryEntry] {
    accessories.sorted { $0.key < $1.key }.flatMap { id, accessory in
      accessory.series.flatMap { series in
        series.rings.enumerated().compactMap { rung, ring in
          ring.buckets.isEmpty || rung == 0 && !finest
            ? nil : HistoryEntry(id: id, name: series.name, unit: series.unit, rung: rung, buckets: ring.buckets)
        }
      }
    }
  }

  /// Moves everything before `time` by `seconds`, a multiple of the longest bucket.
  mutating func shift(before time: Double, by seconds: Int64) {
    for id in accessories.keys { accessories[id]?.shift(before: time, by: seconds) }
  }

  @discardableResult
  private mutating func change<Result>(_ id: String, _ body: (inout AccessoryHistory) -> Result) -> Result {
    byteCount -= accessories[id]?.byteCount ?? 0
    let result = body(&accessories[id, default: AccessoryHistory()])
    byteCount += accessories[id]?.byteCount ?? 0
    while byteCount > byteLimit, accessories.count > 1 { removeOldest(but: id) }
    return result
  }

  /// Removes the accessory whose last reading is oldest, except the one that was just read.
  private mutating func removeOldest(but id: String) {
    let oldest = accessories.lazy.filter { $0.key != id }.min {
      ($0.value.lastRead, $0.key) < ($1.value.lastRead, $1.key)
    }
    guard let oldest else { return }
    byteCount -= oldest.value.byteCount
    accessories[oldest.key] = nil
    unwritten.remove(oldest.key)
    overfull.remove(oldest.key)
  }
}

/// Buckets of one series at one resolution, as they are written.
struct HistoryEntry: Sendable, Hashable {
  /// The accessory.
  var id: String
  /// The series.
  var name: String
  var unit: String?
  /// The resolution: an index of `HistoryLadder.widths`.
  var rung: Int
  var buckets: [HistoryBucket]
}
