// SPDX-License-Identifier: Apache-2.0

/// What a length-prefixed frame says besides its payload.
public struct LengthPrefix: Sendable, Hashable {
  /// The payload's length in bytes, as announced. Filled on decoding, ignored on encoding.
  public var payloadLength: Int

  /// A prefix; the length may stay zero, as encoding takes it from the payload.
  @inlinable public init(payloadLength: Int = 0) { self.payloadLength = payloadLength }
}

/// Frames that are nothing but a length and so many bytes, as the LEGO EV3 sends them: two bytes, little-endian.
///
/// There are no sync bytes, so this fits links that lose nothing: USB, RFCOMM, TCP. A frame whose announced length is
/// too great or too small is reported, and exactly as many bytes are skipped, so a stream that is in step stays so.
/// Nothing can tell that a stream is out of step. What is guaranteed: after `expire` or `reset` the next byte begins a
/// frame, so if the accessory was silent by then, its next frame is found. Silence alone changes nothing.
public struct LengthPrefixedCodec: FrameCodec {
  /// The length's width in bytes, 1…4.
  public let prefixByteCount: Int
  /// The length's byte order.
  public let byteOrder: ByteOrder
  /// The payload lengths that are taken or sent, in bytes. A shorter one is `malformed`, a longer one `tooLong`.
  public let payloadSizes: ClosedRange<Int>

  /// What has been seen since the codec was made.
  public private(set) var counters = FrameCounters()

  /// Bytes of the prefix that have come, and what they say so far.
  private var prefixCount = 0
  private var length = 0
  /// Bytes still to be skipped of a frame that was reported.
  private var skipping = 0
  private var kept: [UInt8] = []

  /// A codec at the start of a frame.
  ///
  /// - Parameters:
  ///   - prefixByteCount: The length's width in bytes, 1…4.
  ///   - byteOrder: The length's byte order.
  ///   - minimumPayload: The shortest payload there is, in bytes. If 0, empty frames are delivered.
  ///   - maximumPayload: The longest payload that is taken or sent, in bytes. It bounds the memory.
  /// - Throws: `FramingParameterError` if there can be no such frames.
  public init(
    prefixByteCount: Int = 2, byteOrder: ByteOrder = .littleEndian, minimumPayload: Int = 1, maximumPayload: Int
  ) throws(FramingParameterError) {
    try FramingLimits.check(maximumPayload: maximumPayload)
    guard (1...4).contains(prefixByteCount) else { throw FramingParameterError("prefixByteCount", "must be 1 to 4") }
    guard maximumPayload >> (8 * prefixByteCount) == 0 else {
      throw FramingParameterError("maximumPayload", "must fit into the length field")
    }
    guard (0...maximumPayload).contains(minimumPayload) else {
      throw FramingParameterError("minimumPayload", "must be 0 to maximumPayload")
    }
    self.prefixByteCount = prefixByteCount
    self.byteOrder = byteOrder
    payloadSizes = minimumPayload...maximumPayload
  }

  /// Whether a frame has begun that has not ended, be it one that is skipped.
  public var hasUnfinishedFrame: Bool { prefixCount > 0 || skipping > 0 }

  /// Whether what comes next belongs to a frame that was reported, and is skipped.
  public var isSkipping: Bool { skipping > 0 }

  /// How many bytes of a payload are kept, fewer than the longest has.
  public var unfinishedByteCount: Int { kept.count }

  /// How many bytes are missing until the unfinished frame ends, or until all of one that was refused is skipped; nil
  /// when that isn't known, because its length is incomplete, or when there is none.
  public var missingByteCount: Int? {
    if skipping > 0 { return skipping }
    return prefixCount == prefixByteCount ? length - kept.count : nil
  }

  /// The room for kept bytes, for tests.
  var keptCapacity: Int { kept.capacity }

  /// Takes the next bytes of the stream and appends to `batch` every frame that they complete.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<LengthPrefix>) {
    let count = bytes.byteCount
    var offset = 0
    while offset < count {
      if skipping > 0 {
        let skipped = min(skipping, count - offset)
        skipping -= skipped
        counters.skippedBytes += UInt64(skipped)
        offset += skipped
        continue
      }
      if prefixCount < prefixByteCount {
        length |= Int(bytes.byte(at: offset)) << byteOrder.shift(ofByte: prefixCount, of: prefixByteCount)
        prefixCount += 1
        offset += 1
        if prefixCount < prefixByteCount { continue }
        if !payloadSizes.contains(length) {
          refuse(into: &batch)
          continue
        }
      }
      let wanted = length - kept.count
      let part = bytes.extracting(offset..<min(count, offset + wanted))
      offset += part.byteCount
      if part.byteCount < wanted {
        keep(part)
      } else if kept.isEmpty {
        counters.frames += 1
        batch.append(.whole, LengthPrefix(payloadLength: length), payload: part)
        reset()
      } else {
        keep(part)
        counters.frames += 1
        batch.append(.whole, LengthPrefix(payloadLength: length), payload: kept.span.bytes)
        reset()
      }
    }
  }

  /// Silence changes nothing.
  public mutating func idle(into batch: inout FrameBatch<LengthPrefix>) {}

  /// Gives up the unfinished frame, and what is still to be skipped. The next byte begins a frame.
  public mutating func expire(into batch: inout FrameBatch<LengthPrefix>) {
    counters.skippedBytes += UInt64(prefixCount + kept.count)
    reset()
  }

  /// Forgets everything but the counters, in which forgotten bytes do not appear. The next byte begins a frame.
  public mutating func reset() {
    prefixCount = 0
    length = 0
    skipping = 0
    kept.removeAll(keepingCapacity: true)
  }

  /// Appends one frame to `output`.
  ///
  /// - Throws: `FrameEncodingError` if the payload is longer or shorter than allowed.
  public func encode(
    _ header: LengthPrefix, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    guard payload.byteCount <= payloadSizes.upperBound else {
      throw .payloadTooLong(byteCount: payload.byteCount, limit: payloadSizes.upperBound)
    }
    guard payload.byteCount >= payloadSizes.lowerBound else {
      throw .payloadTooShort(byteCount: payload.byteCount, minimum: payloadSizes.lowerBound)
    }
    output.append(UInt32(payload.byteCount), byteCount: prefixByteCount, byteOrder)
    output.append(contentsOf: payload)
  }

  private mutating func refuse(into batch: inout FrameBatch<LengthPrefix>) {
    let outcome: FrameOutcome = length > payloadSizes.upperBound ? .tooLong : .malformed
    counters.count(outcome)
    counters.skippedBytes += UInt64(prefixCount)
    batch.append(outcome, LengthPrefix(payloadLength: length))
    let announced = length
    reset()
    skipping = announced
  }

  private mutating func keep(_ part: RawSpan) {
    if part.isEmpty { return }
    let count = kept.count + part.byteCount
    if count > kept.capacity { kept.reserveCapacity(min(length, max(count, 2 * kept.capacity))) }
    kept.append(contentsOf: part)
  }
}
