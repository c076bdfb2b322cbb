// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The contents of the last day's file, within the limits of `HistoryLimits`.
struct HistoryContents: Sendable {
  var store: HistoryStore
  /// The last position of the timeline; nil if the file contains nothing usable.
  private(set) var anchor: HistoryTimeline.Anchor?
  /// The number of bytes that don't belong to a valid record.
  private(set) var dropped: Int
  let byteCount: Int
  /// Whether the finest buckets of some series were dropped, because the service had ended before it wrote the last ones.
  let isUnfinished: Bool
  /// Whether an older version wrote the file, so that nothing can be appended.
  let isOld: Bool

  /// Reads the bytes of a file.
  init(_ file: [UInt8], byteLimit: Int = HistoryLimits.totalByteLimit) {
    byteCount = file.count
    isOld = !file.starts(with: HistoryRecord.signature)
    var (kept, last) = (HistoryStore(byteLimit: byteLimit), HistoryTimeline.Anchor?.none)
    var blocks: [HistoryBlock] = []
    dropped = HistoryRecord.read(file, .recent, onRecord: { if case .anchor(let anchor) = $0 { last = anchor } }) {
      blocks.append($0)
    }
    anchor = last
    if let last {
      // A bucket in the future can only be an error, and it would hide all new readings.
      let latest = last.time + HistoryTier.longestBucket
      for block in blocks {
        for var series in block.series {
          series.buckets.removeAll { Double($0.slot) * Double(block.tier.pointSeconds) > latest }
          kept.restore(block.id, series, block.tier)
        }
      }
    } else {
      dropped = file.count
    }
    isUnfinished = kept.dropUnfinished()
    store = kept
  }
}
