// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The history of one accessory. `HistoryLimits.accessoryByteLimit` bounds its size.
struct AccessoryHistory: Sendable, Hashable {
  /// The series, in the order in which they were first read.
  private(set) var series: [SeriesHistory] = []
  /// The time of the last reading, in seconds of the history's timeline.
  private(set) var lastRead = 0.0
  private(set) var byteCount = HistoryLimits.ownBytes
  private var capacities = HistoryLimits.capacities(seriesCount: 0)

  /// Adds a reading. Returns false if the accessory has too many series already.
  mutating func add(_ name: String, unit: String?, _ value: Double, holds: Bool = false, at time: Double) -> Bool {
    guard let index = place(of: name, unit: unit) else { return false }
    byteCount -= series[index].byteCount
    series[index].unit = unit
    series[index].add(value, holds: holds, at: time, capacities: capacities)
    byteCount += series[index].byteCount
    lastRead = max(lastRead, time)
    return true
  }

  /// Adds buckets read from a file.
  mutating func restore(_ read: HistoryBlock.Series, _ tier: HistoryTier) {
    guard let index = place(of: read.name, unit: read.unit) else { return }
    byteCount -= series[index].byteCount
    series[index].restore(read.buckets, tier, capacities: capacities)
    byteCount += series[index].byteCount
    lastRead = max(lastRead, series[index].newest ?? 0)
  }

  /// The index of a series, which is created if necessary; nil if there are too many series.
  private mutating func place(of name: String, unit: String?) -> Int? {
    if let index = series.firstIndex(where: { $0.name == name }) { return index }
    guard series.count < HistoryLimits.seriesLimit else { return nil }
    series.append(SeriesHistory(name: name, unit: unit))
    let fewer = HistoryLimits.capacities(seriesCount: series.count)
    if fewer != capacities {
      capacities = fewer
      for index in series.indices { series[index].trim(to: fewer) }
    }
    byteCount = series.reduce(HistoryLimits.ownBytes) { $0 + $1.byteCount }
    return series.count - 1
  }

  /// Notes that the accessory is disconnected.
  mutating func interrupt() { for index in series.indices { series[index].interrupt() } }

  /// Drops the finest buckets of series of which a file lacks the last ones. Returns whether it dropped some.
  mutating func dropUnfinished() -> Bool {
    var hasDropped = false
    for index in series.indices where series[index].dropUnfinished() { hasDropped = true }
    return hasDropped
  }

  /// Returns what has changed since the last call; the finest buckets only with `finest`.
  mutating func takeUnwritten(of id: String, finest: Bool) -> [HistoryBlock] {
    Self.tiers(finest: finest).flatMap { tier in
      HistoryBlock.blocks(tier, id: id, series.indices.map { series[$0].takeUnwritten(tier) })
    }
  }

  /// All buckets; the finest ones only with `finest`.
  func blocks(of id: String, finest: Bool) -> [HistoryBlock] {
    Self.tiers(finest: finest).flatMap { tier in HistoryBlock.blocks(tier, id: id, series.map { $0.buckets(tier) }) }
  }

  /// The coarsest first: it has all series in their order.
  private static func tiers(finest: Bool) -> [HistoryTier] { HistoryTier.recent.dropFirst(finest ? 0 : 1).reversed() }

  /// Has all finest buckets written once more.
  mutating func forgetFinest() { for index in series.indices { series[index].forgetFinest() } }

  /// The readings since `time`; last values that hold reach until `now`. `offset` is added to each time.
  func readings(since time: Double, until now: Double = 0, offset: Double) -> [ReadingSeries] {
    series.map {
      ReadingSeries(name: $0.name, unit: $0.unit, points: $0.points(since: time, until: now, offset: offset))
    }
  }

  /// Moves everything before `time` by `seconds`, a multiple of the longest bucket.
  mutating func shift(before time: Double, by seconds: Int64) {
    for index in series.indices { series[index].shift(before: time, by: seconds) }
  }
}
