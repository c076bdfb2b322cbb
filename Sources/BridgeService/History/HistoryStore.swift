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

  /// Returns the buckets that have changed since the last call.
  mutating func takeUnwritten() -> [HistoryEntry] {
    defer { unwritten = [] }
    return unwritten.sorted().flatMap { id in
      (accessories[id]?.takeUnwritten() ?? []).flatMap { series in
        series.rungs.enumerated().compactMap { rung, buckets in
          buckets.isEmpty
            ? nil : HistoryEntry(id: id, name: series.name, unit: series.unit, rung: rung, buckets: Array(buckets))
        }
      }
    }
  }

  /// All buckets.
  var entries: [HistoryEntry] {
    accessories.sorted { $0.key < $1.key }.flatMap { id, accessory in
      accessory.series.flatMap { series in
        series.rings.enumerated().compactMap { rung, ring in
          ring.buckets.isEmpty
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

/// A copy of an accessory's history. Converting it takes longer than a reading, so that can be done on any thread.
struct HistoryExtract: Sendable {
  let accessory: AccessoryHistory
  /// The earliest time that was asked for.
  let since: Double
  /// The offset from the timeline to the wall clock.
  let offset: Double

  /// The series with these names; all if nil. A battery's series can also be named by its published key, such as `voltage_mv`, unless
  /// a value has that name.
  func series(_ names: [String]?) -> [ReadingSeries] {
    let known = Set(accessory.series.map(\.name))
    let names = names.map { Set($0.map { known.contains($0) ? $0 : ReadingSeries.name(ofKey: $0) ?? $0 }) }
    return accessory.series.filter { names?.contains($0.name) ?? true }.map {
      ReadingSeries(name: $0.name, unit: $0.unit, points: $0.points(since: since, offset: offset))
    }
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
