// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The contents of the last day's file, within the limits of `HistoryLimits`.
struct HistoryContents: Sendable {
  var store: HistoryStore
  /// The last position of the timeline; nil if the file contains nothing usable.
  let anchor: HistoryTimeline.Anchor?
  /// The number of bytes that don't belong to a valid record.
  let dropped: Int
  let byteCount: Int
  /// Whether the finest buckets of some series were dropped, because the service had ended before it wrote the last ones.
  let isUnfinished: Bool
  /// Whether an older version wrote the file, so that nothing can be appended.
  let isOld: Bool

  init(_ file: [UInt8], byteLimit: Int = HistoryLimits.totalByteLimit) {
    byteCount = file.count
    isOld = !file.starts(with: HistoryRecord.signature)
    var (kept, last) = (HistoryStore(byteLimit: byteLimit), HistoryTimeline.Anchor?.none)
    let dropped = HistoryRecord.read(file, .recent, onRecord: { if case .anchor(let anchor) = $0 { last = anchor } }) {
      // The last anchor is known before the first block.
      guard let last else { return }
      // A bucket in the future can only be an error, and it would hide all new readings.
      let latest = last.time + HistoryTier.longestBucket
      for var series in $0.series {
        let width = Double($0.tier.pointSeconds)
        series.buckets.removeAll { Double($0.slot) * width > latest }
        kept.restore($0.id, series, $0.tier)
      }
    }
    anchor = last
    self.dropped = last == nil ? file.count : dropped
    isUnfinished = kept.dropUnfinished()
    store = kept
  }
}
