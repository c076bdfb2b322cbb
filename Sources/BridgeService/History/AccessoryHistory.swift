// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The history of one accessory. `HistoryLadder.accessoryByteLimit` bounds its size.
struct AccessoryHistory: Sendable, Hashable {
  /// The series, in the order in which they were first read.
  private(set) var series: [SeriesHistory] = []
  /// The time of the last reading, in seconds of the history's timeline.
  private(set) var lastRead = 0.0
  private(set) var byteCount = HistoryLadder.ownBytes
  private var capacities = HistoryLadder.capacities(seriesCount: 0)

  /// Adds a reading. Returns false if the accessory has too many series already.
  mutating func add(_ name: String, unit: String?, _ value: Double, at time: Double) -> Bool {
    guard let index = place(of: name, unit: unit) else { return false }
    byteCount -= series[index].byteCount
    series[index].unit = unit
    series[index].add(value, at: time, capacities: capacities)
    byteCount += series[index].byteCount
    lastRead = max(lastRead, time)
    return true
  }

  /// Adds buckets read from a file.
  mutating func restore(_ name: String, unit: String?, _ buckets: [HistoryBucket], rung: Int) {
    guard let index = place(of: name, unit: unit) else { return }
    byteCount -= series[index].byteCount
    for bucket in buckets { series[index].restore(bucket, rung: rung, capacities: capacities) }
    byteCount += series[index].byteCount
    lastRead = max(lastRead, series[index].newest ?? 0)
  }

  /// The index of a series, which is created if necessary; nil if there are too many series.
  private mutating func place(of name: String, unit: String?) -> Int? {
    if let index = series.firstIndex(where: { $0.name == name }) { return index }
    guard series.count < HistoryLadder.seriesLimit else { return nil }
    series.append(SeriesHistory(name: name, unit: unit))
    let fewer = HistoryLadder.capacities(seriesCount: series.count)
    if fewer != capacities {
      capacities = fewer
      for index in series.indices { series[index].trim(to: fewer) }
    }
    byteCount = series.reduce(HistoryLadder.ownBytes) { $0 + $1.byteCount }
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

  /// Returns the buckets of each series that have changed since the last call, for each resolution; the finest ones only with `finest`.
  mutating func takeUnwritten(finest: Bool) -> [(name: String, unit: String?, rungs: [ArraySlice<HistoryBucket>])] {
    series.indices.compactMap { index in
      guard series[index].isUnwritten(finest: finest) else { return nil }
      return (series[index].name, series[index].unit, series[index].takeUnwritten(finest: finest))
    }
  }

  /// Has all finest buckets written once more.
  mutating func forgetFinest() { for index in series.indices { series[index].forgetFinest() } }

  /// Moves everything before `time` by `seconds`, a multiple of the longest bucket.
  mutating func shift(before time: Double, by seconds: Int64) {
    for index in series.indices { series[index].shift(before: time, by: seconds) }
  }
}
