// SPDX-License-Identifier: Apache-2.0

/// The framing of MAVLink, versions 1 and 2 as they come: finds frames in a stream of bytes, and finds them again after
/// damage.
///
/// A header has no checksum of its own, so any start byte with a message that is known must be waited for: a damaged length
/// can hold back up to 280 bytes. `idle` delivers what is finished behind it, `expire` gives it up. If the checksum fails,
/// the length may be what is wrong, so the search goes on one byte behind the start, and frames inside are delivered.
///
/// A message that isn't in `MAVLinkTable` can't be checked. Its frame is passed over as a whole, and reported as
/// `FrameOutcome.otherVersion`, when its sender has sent frames that could be checked, and the next frame or silence
/// follows it; otherwise it is taken for noise. Likewise a frame with features that aren't known here is reported so and
/// dropped. A signature is carried along unchecked.
///
/// Each byte is looked at once for each start byte in the 280 before it. Only the bytes of an unfinished frame are kept.
public struct MAVLinkCodec: FrameCodec {
  /// Bytes of the longest payload.
  public static let maximumPayload = 255

  private var scanner = MAVLinkScanner()
  /// They begin with an unfinished frame.
  private var kept: [UInt8] = []
  /// How many kept bytes there must be before another scan can tell more.
  private var needed = 0
  /// The position in the stream of the first kept byte.
  private var position = 0

  /// Bytes that are taken at a time; they bound the memory.
  private static let pieceByteCount = 1_024

  /// A codec at the start of a stream.
  public init() {}

  /// What has been seen since the codec was made.
  public var counters: FrameCounters { scanner.counters }

  /// Whether bytes are kept that may begin a frame, be it a single start byte.
  public var hasUnfinishedFrame: Bool { !kept.isEmpty }

  /// How many bytes are kept, at most 280.
  public var unfinishedByteCount: Int { kept.count }

  /// Takes the next bytes of the stream and appends to `batch` every frame that they complete.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<MAVLinkHeader>) {
    var start = 0
    while start < bytes.byteCount {
      let end = min(bytes.byteCount, start + Self.pieceByteCount)
      kept.append(contentsOf: bytes.extracting(start..<end))
      if kept.count >= needed { scan(from: 0, isSilent: false, into: &batch) }
      start = end
    }
  }

  /// Tells that the line has been silent: whole frames behind the unfinished one are delivered, each only once, and a frame
  /// that can't be checked is passed over where it ends here.
  public mutating func idle(into batch: inout FrameBatch<MAVLinkHeader>) {
    guard !kept.isEmpty else { return }
    scan(from: 0, isSilent: true, into: &batch)
    let kept = kept
    scanner.lookPast(kept.span.bytes, base: position, into: &batch)
  }

  /// Gives up the unfinished frame, and looks for others in the bytes behind its start. What follows it may be unfinished
  /// as well; that is kept.
  public mutating func expire(into batch: inout FrameBatch<MAVLinkHeader>) {
    guard !kept.isEmpty else { return }
    scan(from: 1, isSilent: false, into: &batch)
  }

  /// Forgets everything but the counters, in which forgotten bytes do not appear.
  public mutating func reset() {
    scanner.reset()
    kept.removeAll(keepingCapacity: true)
    (needed, position) = (0, 0)
  }

  /// Appends one frame to `output`. The payload is sent as it is: `MAVLinkMessage.payload` gives it in the form of each
  /// version.
  ///
  /// - Throws: `FrameEncodingError` if the payload is longer than 255 bytes, or the version can't carry the message, or it
  ///   isn't in `MAVLinkTable`.
  public func encode(
    _ header: MAVLinkHeader, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    guard payload.byteCount <= Self.maximumPayload else {
      throw .payloadTooLong(byteCount: payload.byteCount, limit: Self.maximumPayload)
    }
    guard let definition = MAVLinkTable.definition(of: header.message), header.version == .two || header.message < 256
    else {
      throw .unknownMessage(header.message)
    }
    if header.version == .one {
      guard payload.byteCount >= definition.baseByteCount else {
        throw .payloadTooShort(byteCount: payload.byteCount, minimum: definition.baseByteCount)
      }
      guard payload.byteCount <= definition.fullByteCount else {
        throw .payloadTooLong(byteCount: payload.byteCount, limit: definition.fullByteCount)
      }
    }
    let start = output.count
    header.append(to: &output, payload: UInt8(payload.byteCount))
    output.append(contentsOf: payload)
    let checksum = MAVLinkChecksum.value(
      output.span.bytes.extracting((start + 1)..<output.count), seed: definition.seed)
    output.append(littleEndian: checksum)
    if header.version == .two, header.isSigned {
      for index in 0..<MAVLinkHeader.signatureByteCount {
        output.append(index < header.signature.count ? header.signature[index] : 0)
      }
    }
  }

  /// Scans the kept bytes and drops those that are done with.
  private mutating func scan(from index: Int, isSilent: Bool, into batch: inout FrameBatch<MAVLinkHeader>) {
    // Out of the property, as a span of it would forbid to change the scanner, and a copy would cost one.
    var bytes: [UInt8] = []
    swap(&bytes, &kept)
    // A byte jumped over belongs to a frame given up.
    scanner.counters.skippedBytes += UInt64(index)
    let stop = scanner.scan(bytes.span.bytes, from: index, base: position, isSilent: isSilent, into: &batch)
    needed = stop.needed
    position += stop.index
    bytes.removeFirst(stop.index)
    swap(&bytes, &kept)
  }
}
