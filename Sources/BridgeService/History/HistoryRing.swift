// SPDX-License-Identifier: Apache-2.0

/// The last spans of one resolution, in the order of time. Spans without readings take no room.
struct HistoryRing: Sendable, Hashable {
  private(set) var buckets: [HistoryBucket] = []
  /// The first span that has changed since it was last written; nil when none has.
  private(set) var firstUnwritten: UInt32?

  /// The bytes that the points have allocated.
  var byteCount: Int { buckets.capacity * MemoryLayout<HistoryBucket>.stride }

  /// Adds a reading at the span `slot`; one before the last span counts for the last span.
  mutating func add(_ value: Double, slot: UInt32, afterGap hasGap: Bool, capacity: Int) {
    if let last = buckets.last, last.slot >= slot {
      buckets[buckets.count - 1].add(value)
      firstUnwritten = min(firstUnwritten ?? last.slot, last.slot)
    } else {
      append(HistoryBucket(slot: slot, value, hasGapBefore: hasGap), capacity: capacity)
      firstUnwritten = min(firstUnwritten ?? slot, slot)
    }
  }

  /// Adds a span as a file has it. It takes the place of the same span; one before the last span is dropped.
  mutating func restore(_ bucket: HistoryBucket, capacity: Int) {
    if let last = buckets.last, last.slot >= bucket.slot {
      if last.slot == bucket.slot { buckets[buckets.count - 1] = bucket }
    } else {
      append(bucket, capacity: capacity)
    }
  }

  private mutating func append(_ bucket: HistoryBucket, capacity: Int) {
    trim(to: capacity - 1)
    // The storage grows to the limit and not beyond it.
    if buckets.count == buckets.capacity { buckets.reserveCapacity(min(capacity, max(8, buckets.count * 2))) }
    buckets.append(bucket)
  }

  /// Drops the oldest spans, so that at most `capacity` are left, and gives back their room.
  mutating func trim(to capacity: Int) {
    guard buckets.count > capacity else { return }
    if buckets.count == capacity + 1 {
      buckets.removeFirst()
    } else {
      buckets = Array(buckets.suffix(max(0, capacity)))
    }
  }

  /// The spans that have changed since this was last called.
  mutating func takeUnwritten() -> ArraySlice<HistoryBucket> {
    guard let first = firstUnwritten else { return [] }
    firstUnwritten = nil
    return buckets[(buckets.lastIndex { $0.slot < first }.map { $0 + 1 } ?? 0)...]
  }

  /// Moves the spans before `slot` by `count` spans; they stay before `slot`, and in their order.
  mutating func shift(before slot: UInt32, by count: Int64) {
    buckets = buckets.compactMap { bucket in
      guard bucket.slot < slot else { return bucket }
      let moved = Int64(bucket.slot) + count
      guard moved >= 0, moved < Int64(slot) else { return nil }
      var bucket = bucket
      bucket.slot = UInt32(moved)
      return bucket
    }
  }
}
