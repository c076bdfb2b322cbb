// SPDX-License-Identifier: Apache-2.0

/// The framing of any `HeaderFormat`: finds frames in a stream of bytes, and finds the next frame after damage.
///
/// If the header has a checksum of its own, the codec trusts a length only if that checksum is right: a damaged header
/// costs one byte. If the payload of a frame is damaged, frames wholly inside it are not delivered, as they may be
/// payload. A changed or lost byte then costs only the frame that it is in.
///
/// Without a header checksum, the codec must wait for the rest of a frame whenever sync bytes and a length within the
/// limit come. A damaged length can then delay up to `maximumPayload` bytes: `idle` delivers finished frames behind it,
/// and `expire` gives it up. If the frame's checksum is wrong, the length itself may be wrong, so frames inside are
/// delivered. Without any checksum, damage to a frame may go unnoticed.
///
/// After any error the search continues one byte behind the start of the frame that was given up. Its time for each
/// byte does not depend on the lengths that false headers announce. Only the bytes of an unfinished frame are kept.
public struct HeaderCodec: FrameCodec {
  /// The format of the frames.
  public var format: HeaderFormat { scanner.layout.format }
  /// The longest payload that is accepted or encoded, in bytes.
  public var maximumPayload: Int { scanner.layout.maximumPayload }

  private var scanner: HeaderScanner
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
  ///   - format: The format of the frames.
  ///   - maximumPayload: The longest payload that is accepted or encoded, in bytes. A longer frame is reported as
  ///     `FrameOutcome.tooLong`. It bounds the memory.
  ///   - silence: Which frames behind an unfinished one are delivered when the line falls silent.
  /// - Throws: `FramingParameterError` if the parameters of the format don't fit together.
  public init(
    _ format: HeaderFormat, maximumPayload: Int, silence: SilenceRule = .everyFinished
  ) throws(FramingParameterError) {
    scanner = HeaderScanner(try HeaderLayout(format, maximumPayload: maximumPayload), silence: silence)
  }

  /// What has been counted since the codec was made.
  public var counters: FrameCounters { scanner.counters }

  /// Whether bytes are kept that may begin a frame, even if only a single sync byte.
  public var hasUnfinishedFrame: Bool { keptCount > 0 }

  /// How many bytes are kept: fewer than the longest frame has.
  public var unfinishedByteCount: Int { keptCount }

  /// The room for kept bytes, for tests.
  var keptCapacity: Int { kept.capacity }

  private var keptCount: Int { kept.count - keptStart }

  /// Takes the next bytes of the stream and appends to `batch` every frame that they complete.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<HeaderBytes>) {
    let headerByteCount = scanner.layout.format.headerByteCount
    var offset = 0
    while keptCount > 0 {
      let taken = min(needed - keptCount, bytes.byteCount - offset)
      keep(bytes.extracting(offset..<(offset + taken)))
      offset += taken
      // Within a header every further byte may rule the frame out, so scan again. Behind the header wait for the whole
      // frame.
      if keptCount < needed, needed > headerByteCount || taken == 0 { return }
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
  /// The unfinished frame is kept. Everything else is reported later, when the unfinished frame is finished or given
  /// up.
  public mutating func idle(into batch: inout FrameBatch<HeaderBytes>) {
    guard keptCount > scanner.layout.format.headerByteCount else { return }
    let kept = kept
    scanner.lookPast(kept.span.bytes.extracting(keptStart..<kept.count), base: position, into: &batch)
  }

  /// Gives up the unfinished frame, and looks for others in the bytes behind its start.
  ///
  /// A frame that is found there may be unfinished as well; it is kept. The frame that is given up is not reported, but
  /// its bytes count as skipped.
  public mutating func expire(into batch: inout FrameBatch<HeaderBytes>) {
    guard keptCount > 0 else { return }
    if scanner.silence == .onlyLast { idle(into: &batch) }
    scanner.giveUp(to: position + keptCount)
    rescan(from: 1, into: &batch)
    if keptCount == 0 { dropKept() }
  }

  /// Forgets everything but the counters. The kept bytes are not counted as skipped.
  public mutating func reset() {
    scanner.reset()
    dropKept()
    position = 0
  }

  /// Appends one frame to `output`. Sync bytes, length and checksums of `header` are filled in.
  ///
  /// - Throws: `FrameEncodingError` if the payload is longer than `maximumPayload`, or shorter than the length field
  ///   can express.
  public func encode(
    _ header: HeaderBytes, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    try payload.check(format.minimumPayload, to: maximumPayload)
    let start = output.count
    for offset in 0..<format.headerByteCount { output.append(header[offset]) }
    scanner.layout.complete(&output, at: start, payload: payload)
  }

  /// Scans the kept bytes and drops those that are no longer needed.
  private mutating func rescan(from index: Int, into batch: inout FrameBatch<HeaderBytes>) {
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
    let limit = scanner.layout.maximumFrame
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
