// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The readings of one quantity at the resolutions of `HistoryLadder`. Times are in seconds of the history's timeline.
struct SeriesHistory: Sendable, Hashable {
  let name: String
  var unit: String?
  private(set) var rings = [HistoryRing](repeating: HistoryRing(), count: HistoryLadder.widths.count)
  /// The time of the last reading in this run of the service.
  private var last: Double?
  /// The usual pause between two readings, in seconds.
  private var usualPause: Double?
  /// Whether the accessory was disconnected or the service was stopped since the last reading.
  private var isInterrupted = false

  /// If no usual pause is known, a longer pause than this is a gap, in seconds.
  private static let longestPause = 900.0
  /// A pause shorter than this is never a gap, in seconds.
  private static let shortestGap = 60.0
  /// A pause is a gap if it is this many times as long as usual.
  private static let gapFactor = 4.0

  init(name: String, unit: String?) { (self.name, self.unit) = (name, unit) }

  /// An upper bound of the bytes that the series takes.
  var byteCount: Int { HistoryLadder.seriesBytes + rings.reduce(0) { $0 + $1.byteCount } }

  /// Whether some buckets haven't been written.
  var isUnwritten: Bool { rings.contains { $0.firstUnwritten != nil } }

  /// The start of the last bucket; nil if there is none.
  var newest: Double? {
    zip(rings, HistoryLadder.widths).compactMap { ring, width in
      ring.buckets.last.map { Double($0.slot) * Double(width) }
    }.max()
  }

  /// Adds a reading.
  mutating func add(_ value: Double, at time: Double, capacities: [Int]) {
    var hasGap = isInterrupted
    if let last {
      let pause = max(0, time - last)
      hasGap =
        hasGap || pause > (usualPause.map { max(Self.shortestGap, $0 * Self.gapFactor) } ?? Self.longestPause)
      usualPause = usualPause.map { $0 + (pause - $0) / 4 } ?? pause
    }
    (last, isInterrupted) = (time, false)
    for (index, width) in HistoryLadder.widths.enumerated() {
      let slot = UInt32(clamping: Int64(max(0, time)) / Int64(width))
      let isNext = rings[index].buckets.last.map { $0.slot &+ 1 >= slot } ?? true
      rings[index].add(value, slot: slot, afterGap: hasGap && !isNext, capacity: capacities[index])
    }
  }

  /// Notes that the accessory is disconnected, so the next reading follows a gap.
  mutating func interrupt() { (isInterrupted, last) = (true, nil) }

  /// Adds a bucket from a file. The next reading follows a gap.
  mutating func restore(_ bucket: HistoryBucket, rung: Int, capacities: [Int]) {
    guard rings.indices.contains(rung) else { return }
    rings[rung].restore(bucket, capacity: capacities[rung])
    isInterrupted = true
  }

  /// Drops the oldest buckets beyond these capacities.
  mutating func trim(to capacities: [Int]) {
    for index in rings.indices { rings[index].trim(to: capacities[index]) }
  }

  /// Returns the buckets that have changed since the last call, for each resolution.
  mutating func takeUnwritten() -> [ArraySlice<HistoryBucket>] {
    rings.indices.map { rings[$0].takeUnwritten() }
  }

  /// Moves everything before `time` by `seconds`, a multiple of the longest bucket.
  mutating func shift(before time: Double, by seconds: Int64) {
    for (index, width) in HistoryLadder.widths.enumerated() {
      rings[index].shift(
        before: UInt32(clamping: Int64(max(0, time)) / Int64(width)), by: seconds / Int64(width))
    }
  }

  // MARK: - Reading it

  private struct Span {
    var start, width: Double
    var bucket: HistoryBucket
    var end: Double { start + width }
  }

  /// The readings since `time`. Each part has the finest resolution that reaches back far enough. `offset` is added to each time.
  func points(since time: Double, offset: Double) -> [ReadingSeries.Point] {
    var spans: [Span] = []
    for (ring, width) in zip(rings, HistoryLadder.widths).reversed() {
      let width = Double(width)
      let finer = ring.buckets.map { Span(start: Double($0.slot) * width, width: width, bucket: $0) }
      spans = Self.joined(spans, finer)
    }
    let first = spans.firstIndex { $0.end > time } ?? spans.endIndex
    return Self.points(spans[first...], offset: offset)
  }

  /// The coarse buckets up to the start of the finer ones, followed by the finer ones.
  private static func joined(_ coarse: [Span], _ fine: [Span]) -> [Span] {
    guard let begin = fine.first?.start, let first = coarse.first else { return fine.isEmpty ? coarse : fine }
    guard first.end <= begin else { return fine }
    // A finer bucket may start inside a coarser one, which then stays whole.
    let cut = max(begin, coarse.last { $0.start < begin }?.end ?? begin)
    return coarse.filter { $0.start < cut } + fine.filter { $0.start >= cut }
  }

  /// A bucket lasts until the next one starts, unless there is a gap between them.
  private static func points(_ spans: ArraySlice<Span>, offset: Double) -> [ReadingSeries.Point] {
    var points: [ReadingSeries.Point] = []
    points.reserveCapacity(spans.count)
    for (index, span) in zip(spans.indices, spans) {
      let next = index + 1 < spans.endIndex ? spans[index + 1] : nil
      let hasGap = next?.bucket.hasGapBefore == true
      let end = hasGap ? span.end : next?.start ?? span.end
      points.append(
        ReadingSeries.Point(
          time: span.start + offset, span: end - span.start, mean: span.bucket.shownMean,
          least: span.bucket.least.asShortDouble, greatest: span.bucket.greatest.asShortDouble))
      if hasGap, let next, next.start > end {
        points.append(ReadingSeries.Point(time: end + offset, span: next.start - end, nil))
      }
    }
    return points
  }
}
