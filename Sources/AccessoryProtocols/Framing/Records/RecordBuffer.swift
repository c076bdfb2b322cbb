// SPDX-License-Identifier: Apache-2.0

/// The current record of a delimiter-based codec: its bytes so far, and whether it was reported as faulty.
///
/// A record that is too long or breaks the rules is reported at once and only once; the rest of it is skipped.
struct RecordBuffer: Sendable {
  /// The longest record, in bytes.
  let limit: Int
  var counters = FrameCounters()

  private var bytes: [UInt8] = []
  /// Bytes on the wire since the record began, without delimiters.
  private var wireByteCount = 0
  /// Whether the record was reported as faulty.
  private(set) var isSpoiled = false

  init(maximumPayload: Int) throws(FramingParameterError) {
    try FramingLimits.check(maximumPayload: maximumPayload)
    limit = maximumPayload
  }

  /// Whether no byte has come since the last record ended.
  var isAtStart: Bool { wireByteCount == 0 && !isSpoiled }

  /// How many decoded bytes are kept.
  var byteCount: Int { bytes.count }

  /// The room for kept bytes, for tests.
  var capacity: Int { bytes.capacity }

  /// Counts bytes on the wire that belong to the record.
  mutating func consume(_ count: Int) {
    if isSpoiled { counters.skippedBytes += UInt64(count) } else { wireByteCount += count }
  }

  /// Appends decoded bytes, unless the record was reported. Reports it if it becomes too long.
  mutating func append(_ run: RawSpan, into batch: inout FrameBatch<NoHeader>) {
    if isSpoiled || run.isEmpty { return }
    let count = bytes.count + run.byteCount
    if count > limit { return spoil(.tooLong, into: &batch) }
    // An array that grows by itself would exceed the limit.
    if count > bytes.capacity { bytes.reserveCapacity(min(limit, max(count, 2 * bytes.capacity))) }
    bytes.append(contentsOf: run)
  }

  /// Appends one decoded byte, unless the record was reported. Reports it if it becomes too long.
  mutating func append(_ byte: UInt8, into batch: inout FrameBatch<NoHeader>) {
    if isSpoiled { return }
    if bytes.count == limit { return spoil(.tooLong, into: &batch) }
    if bytes.count == bytes.capacity { bytes.reserveCapacity(min(limit, max(16, 2 * bytes.capacity))) }
    bytes.append(byte)
  }

  /// Reports the record as too long or malformed.
  mutating func spoil(_ outcome: FrameOutcome, into batch: inout FrameBatch<NoHeader>) {
    if isSpoiled { return }
    counters.count(outcome)
    batch.append(outcome, NoHeader())
    counters.skippedBytes += UInt64(wireByteCount)
    clear()
    isSpoiled = true
  }

  /// Ends the record. Delivers it, unless it was reported, or is empty and `keepsEmpty` is false.
  mutating func end(keepsEmpty: Bool, into batch: inout FrameBatch<NoHeader>) {
    if isAtStart, !keepsEmpty { return }
    if !isSpoiled, keepsEmpty || !bytes.isEmpty {
      counters.frames += 1
      batch.append(.whole, NoHeader(), payload: bytes.span.bytes)
    }
    clear()
    isSpoiled = false
  }

  /// Delivers a record that is wholly in the input, so that none of its bytes were kept.
  mutating func deliver(_ record: RawSpan, into batch: inout FrameBatch<NoHeader>) {
    counters.frames += 1
    batch.append(.whole, NoHeader(), payload: record)
  }

  /// Gives up the record; its bytes count as skipped.
  mutating func giveUp() {
    counters.skippedBytes += UInt64(wireByteCount)
    forget()
  }

  /// Forgets the record without counting its bytes.
  mutating func forget() {
    clear()
    isSpoiled = false
  }

  private mutating func clear() {
    bytes.removeAll(keepingCapacity: true)
    wireByteCount = 0
  }
}
