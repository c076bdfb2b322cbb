// SPDX-License-Identifier: Apache-2.0

/// What a length-prefixed frame says besides its payload.
public struct LengthPrefix: Sendable, Hashable {
  /// The payload's length in bytes, as the frame announces it. Filled on decoding, ignored on encoding.
  public var payloadLength: Int

  /// A prefix. `payloadLength` may stay zero, as encoding takes it from the payload.
  @inlinable public init(payloadLength: Int = 0) { self.payloadLength = payloadLength }
}

/// The framing of frames that consist of a length and that many bytes, such as those of the LEGO EV3, whose length has
/// two bytes, little-endian.
///
/// There are no sync bytes, so this framing is for transports that lose nothing: USB, RFCOMM, TCP. A frame that
/// announces too great or too small a length is reported, and exactly as many bytes are skipped, so the frames behind
/// it are found. The codec can't notice that bytes were lost. After `expire` or `reset` the next byte begins a frame:
/// if the accessory was silent by then, its next frame is found. Silence alone changes nothing.
public struct LengthPrefixedCodec: FrameCodec {
  /// The size of the length field in bytes, 1…4.
  public let prefixByteCount: Int
  /// The byte order of the length field.
  public let byteOrder: ByteOrder
  /// The payload lengths that are accepted or encoded, in bytes. A shorter payload is `malformed`, a longer one
  /// `tooLong`.
  public let payloadSizes: ClosedRange<Int>

  /// What has been counted since the codec was made.
  public private(set) var counters = FrameCounters()

  /// How many bytes of the length field have arrived, and their value so far.
  private var prefixCount = 0
  private var length = 0
  /// How many bytes of a reported frame must still be skipped.
  private var skipping = 0
  private var kept: [UInt8] = []

  /// A codec at the start of a frame.
  ///
  /// - Parameters:
  ///   - prefixByteCount: The size of the length field in bytes, 1…4.
  ///   - byteOrder: The byte order of the length field.
  ///   - minimumPayload: The shortest allowed payload, in bytes. If 0, empty frames are delivered.
  ///   - maximumPayload: The longest payload that is accepted or encoded, in bytes. It bounds the memory.
  /// - Throws: `FramingParameterError` if the parameters don't fit together.
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

  /// Whether a frame has begun that has not ended, even if it is being skipped.
  public var hasUnfinishedFrame: Bool { prefixCount > 0 || skipping > 0 }

  /// Whether the next bytes belong to a reported frame, and will be skipped.
  public var isSkipping: Bool { skipping > 0 }

  /// How many bytes of a payload are kept: fewer than the longest payload has.
  public var unfinishedByteCount: Int { kept.count }

  /// How many bytes are missing until the unfinished frame ends, or until a reported frame is skipped; nil if the
  /// length field is incomplete, or if there is no such frame.
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

  /// Gives up the unfinished frame, and ends the skipping of a reported frame. The next byte begins a frame.
  public mutating func expire(into batch: inout FrameBatch<LengthPrefix>) {
    counters.skippedBytes += UInt64(prefixCount + kept.count)
    reset()
  }

  /// Forgets everything but the counters. The kept bytes are not counted as skipped. The next byte begins a frame.
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
    try payload.check(payloadSizes.lowerBound, to: payloadSizes.upperBound)
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
