// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What bounds the history in memory: `pointLimit` points and `seriesLimit` series of an accessory need at most `accessoryByteLimit`
/// bytes. If an accessory has many series, each still covers 24 hours, but the two finer tiers reach less far back.
enum HistoryLimits {
  /// The most bytes of an accessory's history.
  static let accessoryByteLimit = 262_144
  /// The most points of an accessory, over all its series. A reply has as many: more are folded to a coarser resolution.
  static let pointLimit = 11_520
  /// The most series of an accessory: four of its battery and 32 values. The first values that it reports are kept.
  static let seriesLimit = 36
  /// The most bytes of a series besides its points: its name, its unit (see `ReadingLimits`), the series itself, and the allocator's
  /// overhead.
  static let seriesBytes = 512
  /// The most bytes of an accessory besides its series: its identity of at most `idBytes` bytes, and its index entries.
  static let ownBytes = 1_024
  /// The longest identity, in bytes of UTF-8.
  static let idBytes = 256

  /// The most bytes of all histories together. Beyond this, the accessory whose last reading is oldest is removed.
  static let totalByteLimit = 32 << 20

  /// The number of points of each tier of the last day that a series keeps if the accessory has `count` series.
  static func capacities(seriesCount count: Int) -> [Int] {
    let full = HistoryTier.recent.map(\.capacity)
    let share = pointLimit / max(1, min(count, seriesLimit))
    guard share < full.reduce(0, +) else { return full }
    let fine = (share - full[2]) / 2
    return [min(fine, full[0]), min(fine, full[1]), full[2]]
  }
}
