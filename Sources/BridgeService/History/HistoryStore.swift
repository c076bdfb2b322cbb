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
  /// The accessories with more values than `HistoryLimits.seriesLimit` allows.
  private(set) var overfull: Set<String> = []

  init(byteLimit: Int = HistoryLimits.totalByteLimit) { self.byteLimit = byteLimit }

  /// Adds a reading. Returns false for the first value that exceeds the accessory's number of series.
  @discardableResult
  mutating func add(
    _ id: String, _ name: String, unit: String?, _ value: Double, holds: Bool = false, at time: Double
  ) -> Bool {
    let isKept = change(id) { $0.add(name, unit: unit, value, holds: holds, at: time) }
    if isKept { unwritten.insert(id) }
    return isKept || !overfull.insert(id).inserted
  }

  /// Adds buckets of an accessory from a file.
  mutating func restore(_ id: String, _ series: HistoryBlock.Series, _ tier: HistoryTier) {
    change(id) { $0.restore(series, tier) }
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
  mutating func takeUnwritten(finest: Bool) -> [HistoryBlock] {
    let ids = finest ? Array(accessories.keys) : Array(unwritten)
    unwritten = []
    return ids.sorted().flatMap { accessories[$0]?.takeUnwritten(of: $0, finest: finest) ?? [] }
  }

  /// Notes that all buckets are written, the finest ones only with `finest`: otherwise these are all written later.
  mutating func wroteAll(finest: Bool) {
    _ = takeUnwritten(finest: finest)
    if !finest { for id in accessories.keys { accessories[id]?.forgetFinest() } }
  }

  /// All buckets; the finest ones only with `finest`.
  func blocks(finest: Bool = true) -> [HistoryBlock] {
    accessories.sorted { $0.key < $1.key }.flatMap { $0.value.blocks(of: $0.key, finest: finest) }
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
