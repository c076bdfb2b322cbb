// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A resolution of the long history, with the files that hold it.
///
/// These constants bound the files: an accessory's blocks with `seriesLimit` series, written once for each slot of a ring, take less
/// than 2 MB, and all files together at most 64 MiB.
struct LongTier: Sendable, Hashable {
  /// The number of the tier in its files.
  let number: UInt8
  /// The seconds of a block, and of each of its points.
  let blockSeconds, pointSeconds: Int
  /// The number of files in the ring.
  let fileCount: Int
  /// A file is full when it has blocks of this many different slots, or this many bytes.
  let slotsOfFile, bytesOfFile: Int

  /// Days: a point for each 15 minutes, written each hour. The ring's files reach back at least 32 days, at most 40.
  static let days = LongTier(
    number: 1, blockSeconds: 3_600, pointSeconds: 900, fileCount: 5, slotsOfFile: 192, bytesOfFile: 8 << 20)
  /// Months: a point a day, written once a day. The ring's files reach back at least 400 days, at most 500.
  static let months = LongTier(
    number: 2, blockSeconds: 86_400, pointSeconds: 86_400, fileCount: 5, slotsOfFile: 100, bytesOfFile: 4 << 20)

  /// The number of points in a block.
  var pointCount: Int { blockSeconds / pointSeconds }
  /// The number of hours in a block.
  var hourCount: Int { blockSeconds / 3_600 }

  /// The most series of an accessory: those of its battery, then its first values.
  static let seriesLimit = 24
  /// How far back the long history reaches, in seconds.
  static let reach = 400 * 86_400.0
  /// How far back the days reach, in seconds.
  static let daysReach = 32 * 86_400.0
  /// The most points of all series of a reply: more are folded to a coarser resolution.
  static let replyPoints = HistoryLadder.pointLimit
}
