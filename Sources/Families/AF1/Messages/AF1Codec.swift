// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The AF1 framing: finds frames in a stream of bytes, and finds the next frame after damage.
///
/// A changed or lost byte costs only the frame that it is in; k lost bytes cost that frame and at most the frames
/// within the next k bytes. Frames are decoded straight from the input. Only the bytes of an unfinished frame are kept,
/// never more than `maximumPayload` + 14.
public struct AF1Codec: FrameCodec {
  /// The longest payload that is accepted or encoded, in bytes, 1…65535.
  public let maximumPayload: Int

  private var scanner: AF1Scanner
  /// The kept bytes start at index `keptStart`. They begin with an unfinished frame.
  private var kept: [UInt8] = []
  private var keptStart = 0
  /// How many bytes must be kept before another scan makes sense.
  private var needed = 0
  /// The position in the stream of the first kept byte, or of the next byte of input if there is none.
  private var position = 0

  /// A codec at the start of a stream.
  ///
  /// - Parameters:
  ///   - maximumPayload: The longest payload that is accepted or encoded, in bytes. A longer frame is reported as
  ///     `FrameOutcome.tooLong`. It bounds the memory.
  ///   - silence: Which frames behind an unfinished one are delivered when the line falls silent.
  /// - Precondition: `maximumPayload` is 1…65535.
  public init(maximumPayload: Int, silence: SilenceRule = .everyFinished) {
    precondition((1...Int(UInt16.max)).contains(maximumPayload), "an AF1 payload has 1 to 65535 bytes")
    self.maximumPayload = maximumPayload
    scanner = AF1Scanner(maximumPayload: maximumPayload, silence: silence)
  }

  /// What has been counted since the codec was made.
  public var counters: FrameCounters { scanner.counters }

  /// Whether bytes are kept that may begin a frame, even if only a single sync byte.
  public var hasUnfinishedFrame: Bool { keptCount > 0 }

  /// How many bytes are kept, at most `maximumPayload` + 14.
  public var unfinishedByteCount: Int { keptCount }

  /// The room for kept bytes, for tests.
  var keptCapacity: Int { kept.capacity }

  private var keptCount: Int { kept.count - keptStart }

  /// Takes the next bytes of the stream and appends to `batch` every frame that they complete.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<AF1Header>) {
    var offset = 0
    while keptCount > 0 {
      let taken = min(needed - keptCount, bytes.byteCount - offset)
      keep(bytes.extracting(offset..<(offset + taken)))
      offset += taken
      // Within a header every further byte may rule the frame out, so scan again. Behind the header wait for the whole
      // frame.
      if keptCount < needed, needed > AF1Header.byteCount || taken == 0 { return }
      rescan(from: 0, into: &batch)
      if keptCount <= offset {
        // The remaining bytes came with this call: continue in the input itself.
        offset -= keptCount
        dropKept()
      } else if keptCount < needed, offset == bytes.byteCount {
        return
      }
    }
    let stop = scanner.scan(bytes, from: offset, base: position - offset, into: &batch)
    position += stop.index - offset
    needed = stop.needed
    keep(bytes.extracting(stop.index..<bytes.byteCount))
  }

  /// Handles silence on the line: delivers whole frames behind the unfinished one, each only once.
  ///
  /// The unfinished frame is kept. Frames that are damaged, too long or of another version are reported later, when the
  /// unfinished frame is finished or given up.
  public mutating func idle(into batch: inout FrameBatch<AF1Header>) {
    guard keptCount > AF1Header.byteCount else { return }
    let kept = kept
    scanner.lookPast(kept.span.bytes.extracting(keptStart..<kept.count), base: position, into: &batch)
  }

  /// Gives up the unfinished frame, and looks for others in the bytes behind its start.
  ///
  /// A frame that is found there may be unfinished as well; it is kept. The frame that is given up is not reported, but
  /// its bytes count as skipped.
  public mutating func expire(into batch: inout FrameBatch<AF1Header>) {
    guard keptCount > 0 else { return }
    if scanner.silence == .onlyLast { idle(into: &batch) }
    scanner.giveUp(to: position + keptCount)
    rescan(from: min(2, keptCount), into: &batch)
    if keptCount == 0 { dropKept() }
  }

  /// Forgets everything but the counters. The kept bytes are not counted as skipped.
  public mutating func reset() {
    scanner.reset()
    dropKept()
    position = 0
  }

  /// Appends one frame to `output`. The payload length of `header` is taken from `payload`.
  ///
  /// - Throws: `FrameEncodingError.payloadTooLong` if the payload exceeds `maximumPayload`.
  public func encode(
    _ header: AF1Header, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    guard payload.byteCount <= maximumPayload else {
      throw .payloadTooLong(byteCount: payload.byteCount, limit: maximumPayload)
    }
    let word = header.word(length: UInt16(payload.byteCount))
    output.append(littleEndian: word)
    let table = AF1Header.checksumTable
    output.append(littleEndian: AF1Header.checksum(of: word, table.entries.span))
    if payload.isEmpty { return }
    output.append(contentsOf: payload)
    output.append(littleEndian: CRC32.checksum(of: payload, .crc32ISOHDLC))
  }

  /// Scans the kept bytes and drops those that are no longer needed.
  private mutating func rescan(from index: Int, into batch: inout FrameBatch<AF1Header>) {
    // A local reference, not a copy: a span of the stored property would not allow changes of the scanner.
    let kept = kept
    // The bytes in front of `index` belong to a frame that was given up.
    scanner.counters.skippedBytes += UInt64(index)
    let bytes = kept.span.bytes.extracting(keptStart..<kept.count)
    let stop = scanner.scan(bytes, from: index, base: position, into: &batch)
    keptStart += stop.index
    position += stop.index
    needed = stop.needed
  }

  /// Appends to the kept bytes.
  private mutating func keep(_ bytes: RawSpan) {
    let limit = maximumPayload + AF1Header.byteCount + AF1Header.trailerByteCount
    let count = keptCount + bytes.byteCount
    assert(count <= limit)
    if keptStart > 0, keptStart + count > kept.capacity {
      kept.removeSubrange(..<keptStart)
      keptStart = 0
    }
    if count > kept.capacity {
      // Reserves room for the whole frame, or twice as much as before. An array that grows by itself would exceed the
      // limit.
      kept.reserveCapacity(min(limit, max(needed, 2 * kept.capacity)))
    }
    kept.append(contentsOf: bytes)
  }

  private mutating func dropKept() {
    kept.removeAll(keepingCapacity: true)
    keptStart = 0
  }
}
