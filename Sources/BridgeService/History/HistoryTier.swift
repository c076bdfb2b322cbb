// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A resolution of the history: 10 s for the last hour, 1 minute for the last 6 hours, 5 minutes for the last 24 hours, 15 minutes for
/// the last 32 days, and a day for the last 400 days. The first three are in memory and are written as they change. The others are on
/// disk only.
struct HistoryTier: Sendable, Hashable {
  /// The number of the tier in files, and its index in `all`.
  let number: UInt8
  let pointSeconds: Int
  /// The most points of a series in a block: in memory, those that are kept if there is room. The coarsest of these has one more, for
  /// the bucket that is being filled.
  let capacity: Int

  /// The tiers in memory, finest first. Their times are those of the history's timeline.
  static let recent = [
    HistoryTier(number: 0, pointSeconds: 10, capacity: 360), HistoryTier(number: 1, pointSeconds: 60, capacity: 360),
    HistoryTier(number: 2, pointSeconds: 300, capacity: 289),
  ]
  /// The tiers on disk only. A block has the points of an hour or of a day, in times of the wall clock.
  static let (days, months) = (
    HistoryTier(number: 3, pointSeconds: 900, capacity: 4), HistoryTier(number: 4, pointSeconds: 86_400, capacity: 1)
  )
  static let all = recent + [days, months]

  /// The length of the longest bucket in memory, in seconds.
  static let longestBucket = Double(recent.last?.pointSeconds ?? 1)
  /// How far back the tiers in memory reach, the days, and the whole history, in seconds.
  static let (recentReach, daysReach, reach) = (86_400.0, 32 * 86_400.0, 400 * 86_400.0)

  /// Whether the tier is on disk only, so that its blocks are whole hours or days.
  var isLong: Bool { number >= Self.days.number }
  /// The seconds and the hours of such a block.
  var blockSeconds: Int { capacity * pointSeconds }
  var hourCount: Int { isLong ? blockSeconds / 3_600 : 0 }
}

/// The files of one or more tiers: a ring, in which the newest file is appended to, and the oldest one is replaced.
///
/// These constants bound the files: an accessory's blocks with `longSeriesLimit` series, written once for each slot of a ring, take
/// less than 2 MB, and all files of days and months together at most 64 MiB.
struct HistoryPart: Sendable, Hashable {
  /// The number of the part in its files.
  let number: UInt8
  let tiers: [HistoryTier]
  let fileCount: Int
  /// A file is full when it has blocks of this many different times, or this many bytes.
  let slotsOfFile, bytesOfFile: Int

  /// The last day: one file, whose owner says when it is written anew. A log has some buckets more than once.
  static let recent = HistoryPart(
    number: 0, tiers: HistoryTier.recent, fileCount: 1, slotsOfFile: .max, bytesOfFile: 2 * HistoryLimits.totalByteLimit
  )
  /// A block each hour. The files reach back at least 32 days, at most 40.
  static let days = HistoryPart(
    number: 1, tiers: [.days], fileCount: 5, slotsOfFile: 192, bytesOfFile: 8 << 20)
  /// A block each day. The files reach back at least 400 days, at most 500.
  static let months = HistoryPart(
    number: 2, tiers: [.months], fileCount: 5, slotsOfFile: 100, bytesOfFile: 4 << 20)

  /// The most series of an accessory in a block of days and months: those of its battery, then its first values.
  static let longSeriesLimit = 24
}
