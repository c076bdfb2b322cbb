// SPDX-License-Identifier: Apache-2.0

/// The most recent buckets of one resolution, in order. Intervals without readings need no memory.
struct HistoryRing: Sendable, Hashable {
  private(set) var buckets: [HistoryBucket] = []
  /// The first bucket that has changed since the last write; nil if none has.
  private(set) var firstUnwritten: UInt32?

  /// The bytes allocated for the buckets.
  var byteCount: Int { buckets.capacity * MemoryLayout<HistoryBucket>.stride }

  /// Adds a reading to the bucket `slot`. A reading from before the last bucket is added to the last bucket.
  mutating func add(_ value: Double, slot: UInt32, afterGap hasGap: Bool, capacity: Int) {
    if let last = buckets.last, last.slot >= slot {
      buckets[buckets.count - 1].add(value)
      firstUnwritten = min(firstUnwritten ?? last.slot, last.slot)
    } else {
      append(HistoryBucket(slot: slot, value, hasGapBefore: hasGap), capacity: capacity)
      firstUnwritten = min(firstUnwritten ?? slot, slot)
    }
  }

  /// Adds a bucket from a file. It replaces the same bucket; a bucket from before the last one is dropped.
  mutating func restore(_ bucket: HistoryBucket, capacity: Int) {
    if let last = buckets.last, last.slot >= bucket.slot {
      if last.slot == bucket.slot { buckets[buckets.count - 1] = bucket }
    } else {
      append(bucket, capacity: capacity)
    }
  }

  private mutating func append(_ bucket: HistoryBucket, capacity: Int) {
    trim(to: capacity - 1)
    // Grow the storage exactly to the limit.
    if buckets.count == buckets.capacity { buckets.reserveCapacity(min(capacity, max(8, buckets.count * 2))) }
    buckets.append(bucket)
  }

  /// Drops all buckets.
  mutating func clear() { (buckets, firstUnwritten) = ([], nil) }

  /// Drops the oldest buckets until at most `capacity` are left, and frees their memory.
  mutating func trim(to capacity: Int) {
    guard buckets.count > capacity else { return }
    if buckets.count == capacity + 1 {
      buckets.removeFirst()
    } else {
      buckets = Array(buckets.suffix(max(0, capacity)))
    }
  }

  /// Has all buckets written once more.
  mutating func forgetWritten() { firstUnwritten = buckets.first?.slot }

  /// Returns the buckets that have changed since the last call.
  mutating func takeUnwritten() -> ArraySlice<HistoryBucket> {
    guard let first = firstUnwritten else { return [] }
    firstUnwritten = nil
    return buckets[(buckets.lastIndex { $0.slot < first }.map { $0 + 1 } ?? 0)...]
  }

  /// Moves the buckets before `slot` by `count` buckets. They stay before `slot` and in order.
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
