// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The resolutions of an accessory's history and how far each reaches: 10 s for the last hour, 1 minute for the last 6 hours, 5
/// minutes for the last 24 hours.
///
/// These constants bound an accessory's memory: `pointLimit` points and `seriesLimit` series need at most `accessoryByteLimit` bytes.
/// If an accessory has many series, each still covers 24 hours, but the two finer resolutions reach less far back.
enum HistoryLadder {
  /// The lengths of the buckets in seconds, finest first.
  static let widths = [10, 60, 300]
  /// The number of points of each resolution if there is room. The coarsest has one more, for the bucket that is being filled.
  static let fullCapacities = [360, 360, 289]
  /// How far back the history reaches, in seconds.
  static let reach = 86_400.0

  /// The most bytes of an accessory's history.
  static let accessoryByteLimit = 262_144
  /// The most points of an accessory, over all its series.
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

  /// The number of points of each resolution that a series keeps if the accessory has `count` series.
  static func capacities(seriesCount count: Int) -> [Int] {
    let share = pointLimit / max(1, min(count, seriesLimit))
    let coarse = fullCapacities[2]
    guard share < fullCapacities.reduce(0, +) else { return fullCapacities }
    let fine = (share - coarse) / 2
    return [min(fine, fullCapacities[0]), min(fine, fullCapacities[1]), coarse]
  }
}
