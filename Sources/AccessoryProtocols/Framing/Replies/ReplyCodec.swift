// SPDX-License-Identifier: Apache-2.0

/// The framing of replies without a terminator, such as those of some Bluetooth modules: a reply ends where a known pattern ends, or when
/// the line falls silent.
///
/// Patterns are compared with a reply from its first byte on, and the longest match wins. `OK+CONN` is also the
/// beginning of `OK+CONNA`, so a reply that matches is kept while another pattern could continue; the next byte or
/// silence decides. If that byte continues another pattern, the shorter match is dropped for good. Otherwise the reply
/// is delivered, and the byte begins the next reply. If the bytes match no pattern, they are collected until the line
/// falls silent.
///
/// So `idle` must be called whenever the line has really been silent. How the bytes between two silences are divided
/// doesn't matter. A reply longer than the limit is reported once, and skipped until silence.
public struct ReplyCodec: FrameCodec {
  /// The known replies. If two patterns match the same bytes, the first in the list is reported.
  public let patterns: [ReplyPattern]
  /// The longest reply that is accepted, and the longest command that is encoded, in bytes.
  public let maximumPayload: Int

  /// What has been counted since the codec was made.
  public private(set) var counters = FrameCounters()

  private var kept: [UInt8] = []
  /// The indices of the patterns that the kept bytes may still match, in rising order.
  private var candidates: [Int] = []
  /// The index of the pattern that the kept bytes match; nil if they match none.
  private var match: Int?
  /// Whether the reply was reported as too long.
  private var isSkipping = false

  /// A codec at the start of a reply.
  ///
  /// - Parameters:
  ///   - patterns: The known replies; at most 1024 patterns of at most 128 elements each.
  ///   - maximumPayload: The longest reply that is accepted, in bytes. It bounds the memory.
  /// - Throws: `FramingParameterError` if a pattern or the limit is out of bounds.
  public init(patterns: [ReplyPattern], maximumPayload: Int) throws(FramingParameterError) {
    try FramingLimits.check(maximumPayload: maximumPayload)
    guard patterns.count <= 1024 else { throw FramingParameterError("patterns", "must be at most 1024") }
    for pattern in patterns {
      guard (1...128).contains(pattern.minimumByteCount) else {
        throw FramingParameterError("patterns", "must each have 1 to 128 elements, the terminator included")
      }
      guard pattern.minimumByteCount <= maximumPayload else {
        throw FramingParameterError("patterns", "must not be longer than maximumPayload")
      }
    }
    self.patterns = patterns
    self.maximumPayload = maximumPayload
    candidates.reserveCapacity(patterns.count)
  }

  /// Whether a reply has begun that has not ended, even if it is being skipped.
  public var hasUnfinishedFrame: Bool { !kept.isEmpty || isSkipping }

  /// Whether the reply matches no pattern, or is being skipped, so that only silence ends it.
  package var isCollecting: Bool { isSkipping || !kept.isEmpty && candidates.isEmpty }

  /// How many bytes are kept, at most `maximumPayload`.
  public var unfinishedByteCount: Int { kept.count }

  /// The room for kept bytes, for tests.
  var keptCapacity: Int { kept.capacity }

  /// Takes the next bytes of the stream and appends to `batch` every reply that is known to have ended.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<ReplyEnd>) {
    var offset = 0
    while offset < bytes.byteCount {
      if isCollecting {
        // Only silence ends this.
        return collect(bytes.extracting(offset..<bytes.byteCount), into: &batch)
      }
      take(bytes.byte(at: offset), into: &batch)
      offset += 1
    }
  }

  /// Handles silence on the line: it ends the reply, known or not, and the skipping of a reply that was too long.
  public mutating func idle(into batch: inout FrameBatch<ReplyEnd>) {
    if !kept.isEmpty { deliver(into: &batch) }
    reset()
  }

  /// Gives up the unfinished reply; its bytes count as skipped. The next byte begins a reply.
  public mutating func expire(into batch: inout FrameBatch<ReplyEnd>) {
    counters.skippedBytes += UInt64(kept.count)
    reset()
  }

  /// Forgets everything but the counters. The kept bytes are not counted as skipped.
  public mutating func reset() {
    restart()
    isSkipping = false
  }

  /// Appends a command to `output`, unchanged.
  ///
  /// - Throws: `FrameEncodingError` if the command is empty or longer than `maximumPayload`.
  public func encode(
    _ header: ReplyEnd, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    try payload.check(1, to: maximumPayload)
    output.append(contentsOf: payload)
  }

  /// Processes one byte of a reply that may still match a pattern.
  private mutating func take(_ byte: UInt8, into batch: inout FrameBatch<ReplyEnd>) {
    if kept.isEmpty { candidates.append(contentsOf: patterns.indices) }
    narrow(by: byte)
    if candidates.isEmpty, match != nil {
      deliver(into: &batch)
      return take(byte, into: &batch)
    }
    if kept.count == maximumPayload { return skip(into: &batch) }
    reserve(kept.count + 1)
    kept.append(byte)
    match = candidates.first { isComplete(patterns[$0]) }
    if match != nil, candidates.allSatisfy({ isComplete(patterns[$0]) }) {
      // No candidate can continue.
      deliver(into: &batch)
    }
  }

  /// Drops the candidates that `byte` doesn't continue.
  private mutating func narrow(by byte: UInt8) {
    var count = 0
    for index in candidates.indices {
      let candidate = candidates[index]
      let pattern = patterns[candidate]
      let goesOn =
        kept.count < pattern.elements.count
        ? pattern.elements[kept.count].matches(byte) : !pattern.terminator.isEmpty && !isComplete(pattern)
      if goesOn {
        candidates[count] = candidate
        count += 1
      }
    }
    candidates.removeLast(candidates.count - count)
  }

  /// Whether the kept bytes, which agree with `pattern` so far, match all of it.
  private func isComplete(_ pattern: ReplyPattern) -> Bool {
    if pattern.terminator.isEmpty { return kept.count == pattern.elements.count }
    return kept.count >= pattern.minimumByteCount && kept.suffix(pattern.terminator.count) == pattern.terminator[...]
  }

  /// Collects bytes of a reply that matches no pattern.
  private mutating func collect(_ bytes: RawSpan, into batch: inout FrameBatch<ReplyEnd>) {
    if isSkipping {
      counters.skippedBytes += UInt64(bytes.byteCount)
    } else if bytes.byteCount > maximumPayload - kept.count {
      skip(into: &batch)
      // `skip` has counted the first byte beyond the limit.
      counters.skippedBytes += UInt64(bytes.byteCount - 1)
    } else {
      reserve(kept.count + bytes.byteCount)
      kept.append(contentsOf: bytes)
    }
  }

  /// Reports the reply as too long, because of one more byte.
  private mutating func skip(into batch: inout FrameBatch<ReplyEnd>) {
    counters.tooLong += 1
    counters.skippedBytes += UInt64(kept.count + 1)
    batch.append(.tooLong, ReplyEnd())
    restart()
    isSkipping = true
  }

  /// Delivers the kept bytes.
  private mutating func deliver(into batch: inout FrameBatch<ReplyEnd>) {
    counters.frames += 1
    batch.append(.whole, ReplyEnd(pattern: match), payload: kept.span.bytes)
    restart()
  }

  /// Makes room for `count` bytes. An array that grows by itself would exceed the limit.
  private mutating func reserve(_ count: Int) {
    if count > kept.capacity { kept.reserveCapacity(min(maximumPayload, max(count, 2 * kept.capacity))) }
  }

  private mutating func restart() {
    kept.removeAll(keepingCapacity: true)
    candidates.removeAll(keepingCapacity: true)
    match = nil
  }
}
