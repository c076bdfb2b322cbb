// SPDX-License-Identifier: Apache-2.0

/// Replies with nothing behind them, such as those of the HM-10: one ends where a known pattern ends, or by silence.
///
/// Patterns are held against a reply from its first byte on, the longest match first. `OK+CONN` is also the beginning of
/// `OK+CONNA`, so a reply that matches waits while another pattern could go on: the next byte decides, or silence. If
/// that byte goes on with one, the shorter match is off for good; else the reply is delivered and the byte begins the
/// next one. Bytes that go with no pattern are collected, with all that follows, until silence.
///
/// So every `idle` matters here, and must come when the line has really been silent; how the bytes in between are cut
/// does not. A reply longer than the limit is reported once and skipped until silence.
public struct ReplyCodec: FrameCodec {
  /// What replies are known. Of two that match the same bytes, the first in the list is named.
  public let patterns: [ReplyPattern]
  /// The longest reply that is taken, and the longest command that is sent, in bytes.
  public let maximumPayload: Int

  /// What has been seen since the codec was made.
  public private(set) var counters = FrameCounters()

  private var kept: [UInt8] = []
  /// The patterns that the kept bytes may still become, in rising order.
  private var candidates: [Int] = []
  /// The pattern that the kept bytes are, if they are one.
  private var match: Int?
  /// Whether the reply was reported as too long.
  private var isSkipping = false

  /// A codec at the start of a reply.
  ///
  /// - Parameters:
  ///   - patterns: What replies are known; at most 1024, and 128 elements each.
  ///   - maximumPayload: The longest reply that is taken, in bytes. It bounds the memory.
  /// - Throws: `FramingParameterError` if there can be no such replies.
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

  /// Whether a reply has begun that has not ended, be it one that is skipped.
  public var hasUnfinishedFrame: Bool { !kept.isEmpty || isSkipping }

  /// Whether what is kept, or skipped, goes with no pattern, so that only silence ends it.
  var isCollecting: Bool { isSkipping || !kept.isEmpty && candidates.isEmpty }

  /// How many bytes are kept, at most `maximumPayload`.
  public var unfinishedByteCount: Int { kept.count }

  /// The room for kept bytes, for tests.
  var keptCapacity: Int { kept.capacity }

  /// Takes the next bytes of the stream and appends to `batch` every reply of which they show the end.
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

  /// Silence ends the reply, known or not, and the skipping of one that was too long.
  public mutating func idle(into batch: inout FrameBatch<ReplyEnd>) {
    if !kept.isEmpty { deliver(into: &batch) }
    reset()
  }

  /// Gives up what is kept; its bytes count as skipped. The next byte begins a reply.
  public mutating func expire(into batch: inout FrameBatch<ReplyEnd>) {
    counters.skippedBytes += UInt64(kept.count)
    reset()
  }

  /// Forgets everything but the counters, in which forgotten bytes do not appear.
  public mutating func reset() {
    restart()
    isSkipping = false
  }

  /// Appends a command to `output`, just as it is.
  ///
  /// - Throws: `FrameEncodingError` if it is empty or longer than `maximumPayload`.
  public func encode(
    _ header: ReplyEnd, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    guard payload.byteCount <= maximumPayload else {
      throw .payloadTooLong(byteCount: payload.byteCount, limit: maximumPayload)
    }
    if payload.isEmpty { throw .payloadTooShort(byteCount: 0, minimum: 1) }
    output.append(contentsOf: payload)
  }

  /// Takes one byte of a reply that a pattern can end.
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
      // None can go on.
      deliver(into: &batch)
    }
  }

  /// Drops the candidates with which `byte`, behind the kept ones, does not go.
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

  /// Whether the kept bytes, which go with `pattern`, are all of it.
  private func isComplete(_ pattern: ReplyPattern) -> Bool {
    if pattern.terminator.isEmpty { return kept.count == pattern.elements.count }
    return kept.count >= pattern.minimumByteCount && kept.suffix(pattern.terminator.count) == pattern.terminator[...]
  }

  /// Collects bytes that go with no pattern.
  private mutating func collect(_ bytes: RawSpan, into batch: inout FrameBatch<ReplyEnd>) {
    if isSkipping {
      counters.skippedBytes += UInt64(bytes.byteCount)
    } else if bytes.byteCount > maximumPayload - kept.count {
      skip(into: &batch)
      // The first byte too many is counted there.
      counters.skippedBytes += UInt64(bytes.byteCount - 1)
    } else {
      reserve(kept.count + bytes.byteCount)
      kept.append(contentsOf: bytes)
    }
  }

  /// Reports the reply as too long because of one byte more.
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

  /// Makes room for `count` bytes; an array left to grow by itself would exceed the limit.
  private mutating func reserve(_ count: Int) {
    if count > kept.capacity { kept.reserveCapacity(min(maximumPayload, max(count, 2 * kept.capacity))) }
  }

  private mutating func restart() {
    kept.removeAll(keepingCapacity: true)
    candidates.removeAll(keepingCapacity: true)
    match = nil
  }
}
