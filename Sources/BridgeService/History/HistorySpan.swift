// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A bucket with its time in seconds.
struct HistorySpan: Sendable {
  var start, width: Double
  var bucket: HistoryBucket
  var end: Double { start + width }

  init(_ bucket: HistoryBucket, width: Double) {
    (start, self.width, self.bucket) = (Double(bucket.slot) * width, width, bucket)
  }

  /// The coarse buckets up to the start of the finer ones, followed by the finer ones.
  static func joined(_ coarse: [HistorySpan], _ fine: [HistorySpan]) -> [HistorySpan] {
    guard let begin = fine.first?.start, let first = coarse.first else { return fine.isEmpty ? coarse : fine }
    guard first.end <= begin else { return fine }
    // A finer bucket may start inside a coarser one, which then stays whole.
    let cut = max(begin, coarse.last { $0.start < begin }?.end ?? begin)
    return coarse.filter { $0.start < cut } + fine.filter { $0.start >= cut }
  }

  /// A bucket lasts until the next one starts, unless there is a gap between them.
  static func points(_ spans: ArraySlice<HistorySpan>, offset: Double) -> [ReadingSeries.Point] {
    var points: [ReadingSeries.Point] = []
    points.reserveCapacity(spans.count)
    for (index, span) in zip(spans.indices, spans) {
      let next = index + 1 < spans.endIndex ? spans[index + 1] : nil
      let hasGap = next?.bucket.hasGapBefore == true
      let end = hasGap ? span.end : next?.start ?? span.end
      let shown = span.bucket.shown
      points.append(
        ReadingSeries.Point(
          time: span.start + offset, span: end - span.start, mean: shown.mean, least: shown.least,
          greatest: shown.greatest))
      if hasGap, let next, next.start > end {
        points.append(ReadingSeries.Point(time: end + offset, span: next.start - end, nil))
      }
    }
    return points
  }
}
