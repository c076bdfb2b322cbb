// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The readings of one quantity in the tiers of the last day. Times are in seconds of the history's timeline.
struct SeriesHistory: Sendable, Hashable {
  let name: String
  var unit: String?
  private(set) var rings = [HistoryRing](repeating: HistoryRing(), count: HistoryTier.recent.count)
  /// The time of the last reading in this run of the service.
  private var last: Double?
  /// The usual pause between two readings, in seconds.
  private var usualPause: Double?
  /// Whether the accessory was disconnected or the service was stopped since the last reading.
  private var isInterrupted = false
  /// Whether the last value holds until the next one while the accessory is attached: nobody reads it again and again.
  private var holds = false

  /// If no usual pause is known, a longer pause than this is a gap, in seconds.
  private static let longestPause = 900.0
  /// A pause shorter than this is never a gap, in seconds.
  private static let shortestGap = 60.0
  /// A pause is a gap if it is this many times as long as usual.
  private static let gapFactor = 4.0

  init(name: String, unit: String?) { (self.name, self.unit) = (name, unit) }

  /// An upper bound of the bytes that the series takes.
  var byteCount: Int { HistoryLimits.seriesBytes + rings.reduce(0) { $0 + $1.byteCount } }

  /// The start of the last bucket; nil if there is none.
  var newest: Double? {
    zip(rings, HistoryTier.recent).compactMap { ring, tier in
      ring.buckets.last.map { Double($0.slot) * Double(tier.pointSeconds) }
    }.max()
  }

  /// Adds a reading. With `holds` the one before has held until now, however long ago it was.
  mutating func add(_ value: Double, holds: Bool = false, at time: Double, capacities: [Int]) {
    var hasGap = isInterrupted
    // A current that nobody has looked at for long isn't counted as energy.
    let holds = holds && name != ReadingSeries.current
    self.holds = holds
    if let last {
      let pause = max(0, time - last)
      hasGap =
        hasGap || !holds && pause > (usualPause.map { max(Self.shortestGap, $0 * Self.gapFactor) } ?? Self.longestPause)
      usualPause = usualPause.map { $0 + (pause - $0) / 4 } ?? pause
    }
    (last, isInterrupted) = (time, false)
    for (index, tier) in HistoryTier.recent.enumerated() {
      let slot = UInt32(clamping: Int64(max(0, time)) / Int64(tier.pointSeconds))
      let isNext = rings[index].buckets.last.map { $0.slot &+ 1 >= slot } ?? true
      rings[index].add(value, slot: slot, afterGap: hasGap && !isNext, capacity: capacities[index])
    }
  }

  /// Notes that the accessory is disconnected, so the next reading follows a gap.
  mutating func interrupt() { (isInterrupted, last) = (true, nil) }

  /// Adds buckets from a file. The next reading follows a gap.
  mutating func restore(_ buckets: [HistoryBucket], _ tier: HistoryTier, capacities: [Int]) {
    let index = Int(tier.number)
    guard rings.indices.contains(index), !buckets.isEmpty else { return }
    for bucket in buckets { rings[index].restore(bucket, capacity: capacities[index]) }
    isInterrupted = true
  }

  /// Drops the oldest buckets beyond these capacities.
  mutating func trim(to capacities: [Int]) {
    for index in rings.indices { rings[index].trim(to: capacities[index]) }
  }

  /// Returns the buckets of a tier that have changed since the last call.
  mutating func takeUnwritten(_ tier: HistoryTier) -> HistoryBlock.Series {
    HistoryBlock.Series(name: name, unit: unit, buckets: Array(rings[Int(tier.number)].takeUnwritten()))
  }

  func buckets(_ tier: HistoryTier) -> HistoryBlock.Series {
    HistoryBlock.Series(name: name, unit: unit, buckets: rings[Int(tier.number)].buckets)
  }

  /// Has all finest buckets written once more.
  mutating func forgetFinest() { rings[0].forgetWritten() }

  /// Drops the finest buckets of a file if the service ended before it wrote the last ones. They would hide the coarser ones that
  /// follow. Returns whether it dropped some.
  mutating func dropUnfinished() -> Bool {
    guard let fine = rings[0].buckets.last, let coarse = rings[1].buckets.last else { return false }
    let (fineEnd, coarseStart) = (
      Int(fine.slot) * HistoryTier.recent[0].pointSeconds, Int(coarse.slot) * HistoryTier.recent[1].pointSeconds
    )
    guard fineEnd < coarseStart else { return false }
    rings[0].clear()
    return true
  }

  /// Moves everything before `time` by `seconds`, a multiple of the longest bucket.
  mutating func shift(before time: Double, by seconds: Int64) {
    for (index, tier) in HistoryTier.recent.enumerated() {
      let width = Int64(tier.pointSeconds)
      rings[index].shift(before: UInt32(clamping: Int64(max(0, time)) / width), by: seconds / width)
    }
  }

  // MARK: - Reading it

  /// The readings since `time`. Each part has the finest resolution that reaches back far enough. A last value that holds reaches until
  /// `now`. `offset` is added to each time.
  func points(since time: Double, until now: Double = 0, offset: Double) -> [ReadingSeries.Point] {
    var spans: [HistorySpan] = []
    for (ring, tier) in zip(rings, HistoryTier.recent).reversed() {
      let width = Double(tier.pointSeconds)
      spans = HistorySpan.joined(spans, ring.buckets.map { HistorySpan($0, width: width) })
    }
    if holds, !isInterrupted, let last = spans.last, last.end < now { spans[spans.count - 1].width = now - last.start }
    let first = spans.firstIndex { $0.end > time } ?? spans.endIndex
    return HistorySpan.points(spans[first...], offset: offset)
  }
}
