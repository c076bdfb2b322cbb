// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The resolutions at which an accessory's readings are kept, and how much of each: 10 s for the last hour, a minute for
/// the last 6 hours, 5 minutes for the last 24 hours.
///
/// The bound of an accessory follows from these constants: `pointLimit` points and `seriesLimit` series take at most
/// `accessoryByteLimit` bytes. An accessory with many series keeps 24 hours of each, and reaches less far back in the
/// two finer resolutions.
enum HistoryLadder {
  /// The lengths of the spans in seconds, the finest first.
  static let widths = [10, 60, 300]
  /// How many points of each resolution are kept, where there is room. One more of the coarsest is the one that is being
  /// filled.
  static let fullCapacities = [360, 360, 289]
  /// How far back readings are kept, in seconds.
  static let reach = 86_400.0

  /// The most bytes of an accessory's history.
  static let accessoryByteLimit = 262_144
  /// The most points of all series of an accessory together.
  static let pointLimit = 11_520
  /// The most series of an accessory: four of its battery, and 32 values. The values that it reports first are kept.
  static let seriesLimit = 36
  /// The bytes of a series beside its points, at most: its name and its unit (see `ReadingLimits`), the series itself,
  /// and what the allocator adds.
  static let seriesBytes = 512
  /// The bytes of an accessory beside its series, at most: its identity of at most `idBytes`, and its places.
  static let ownBytes = 1_024
  /// The longest identity, in bytes of UTF-8.
  static let idBytes = 256

  /// The most bytes of the histories of all accessories together. Then the accessory that was read longest ago leaves.
  static let totalByteLimit = 32 << 20

  /// How many points of each resolution a series keeps where the accessory has `count` series.
  static func capacities(seriesCount count: Int) -> [Int] {
    let share = pointLimit / max(1, min(count, seriesLimit))
    let coarse = fullCapacities[2]
    guard share < fullCapacities.reduce(0, +) else { return fullCapacities }
    let fine = (share - coarse) / 2
    return [min(fine, fullCapacities[0]), min(fine, fullCapacities[1]), coarse]
  }
}
