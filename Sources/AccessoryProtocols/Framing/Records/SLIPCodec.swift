// SPDX-License-Identifier: Apache-2.0

/// SLIP, the framing of RFC 1055: END (C0) ends a packet; within a packet, C0 is sent as DB DC and DB as DB DD.
///
/// Empty packets are ignored, since many senders begin with an END. A packet with another byte behind DB, or longer
/// than the limit, is reported once and skipped to its END. RFC 1055 keeps such a byte, but that would deliver a
/// damaged packet as a good one. There is no checksum: see `CheckedCodec`.
///
/// A codec that begins in the middle of a packet delivers the rest of it as a packet. Silence changes nothing. `expire`
/// drops an unfinished packet, and the next byte begins a packet.
public struct SLIPCodec: FrameCodec {
  /// The longest packet that is accepted or encoded, in bytes, before escaping.
  public let maximumPayload: Int
  /// Whether an END is also sent in front of a packet, so that the receiver drops noise before it.
  public let sendsLeadingEnd: Bool

  private var record: RecordBuffer
  /// Whether the last byte was DB.
  private var isEscaped = false

  private static let end: UInt8 = 0xC0
  private static let escape: UInt8 = 0xDB
  private static let escapedEnd: UInt8 = 0xDC
  private static let escapedEscape: UInt8 = 0xDD
  private static let specials = ByteSearch.Needles([end, escape])

  /// A codec at the start of a packet.
  ///
  /// - Parameters:
  ///   - maximumPayload: The longest packet that is accepted or encoded, in bytes. It bounds the memory.
  ///   - sendsLeadingEnd: Whether an END is also sent in front of a packet.
  /// - Throws: `FramingParameterError` if the limit is out of bounds.
  public init(maximumPayload: Int, sendsLeadingEnd: Bool = true) throws(FramingParameterError) {
    self.maximumPayload = maximumPayload
    self.sendsLeadingEnd = sendsLeadingEnd
    record = try RecordBuffer(maximumPayload: maximumPayload)
  }

  /// What has been counted since the codec was made.
  public var counters: FrameCounters { record.counters }

  /// Whether a packet has begun that has not ended.
  public var hasUnfinishedFrame: Bool { !record.isAtStart }

  /// How many bytes are kept, at most `maximumPayload`.
  public var unfinishedByteCount: Int { record.byteCount }

  /// The room for kept bytes, for tests.
  var keptCapacity: Int { record.capacity }

  /// Takes the next bytes of the stream and appends to `batch` every packet that they complete.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<NoHeader>) {
    let specials = Self.specials
    let count = bytes.byteCount
    var offset = 0
    while offset < count {
      if isEscaped {
        isEscaped = false
        switch bytes.byte(at: offset) {
        case Self.escapedEnd: record.append(Self.end, into: &batch)
        case Self.escapedEscape: record.append(Self.escape, into: &batch)
        case Self.end:
          // The END still ends the packet, so it is processed again.
          record.spoil(.malformed, into: &batch)
          continue
        default: record.spoil(.malformed, into: &batch)
        }
        offset += 1
        record.consume(1)
        continue
      }
      let stop = ByteSearch.firstIndex(ofAny: specials, in: bytes, from: offset)
      let run = bytes.extracting(offset..<stop)
      let isEnd = stop < count && bytes.byte(at: stop) == Self.end
      if isEnd, record.isAtStart, !run.isEmpty, run.byteCount <= maximumPayload {
        record.deliver(run, into: &batch)
        offset = stop + 1
        continue
      }
      record.consume(run.byteCount)
      record.append(run, into: &batch)
      offset = stop
      if stop == count { return }
      offset += 1
      if isEnd {
        record.end(keepsEmpty: false, into: &batch)
      } else {
        record.consume(1)
        isEscaped = true
      }
    }
  }

  /// Gives up the unfinished packet; its bytes count as skipped. The next byte begins a packet.
  public mutating func expire(into batch: inout FrameBatch<NoHeader>) {
    record.giveUp()
    isEscaped = false
  }

  /// Forgets everything but the counters. The kept bytes are not counted as skipped.
  public mutating func reset() {
    record.forget()
    isEscaped = false
  }

  /// Appends one packet to `output`.
  ///
  /// - Throws: `FrameEncodingError` if the packet is longer than `maximumPayload`, or empty.
  public func encode(
    _ header: NoHeader, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    try payload.check(1, to: maximumPayload)
    if sendsLeadingEnd { output.append(Self.end) }
    var offset = 0
    while offset < payload.byteCount {
      let stop = ByteSearch.firstIndex(ofAny: Self.specials, in: payload, from: offset)
      output.append(contentsOf: payload.extracting(offset..<stop))
      offset = stop
      if offset == payload.byteCount { break }
      output.append(Self.escape)
      output.append(payload.byte(at: offset) == Self.end ? Self.escapedEnd : Self.escapedEscape)
      offset += 1
    }
    output.append(Self.end)
  }
}
