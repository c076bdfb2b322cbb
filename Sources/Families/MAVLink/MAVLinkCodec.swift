// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The framing of MAVLink, versions 1 and 2 mixed: finds frames in a stream of bytes, and finds the next frame after
/// damage.
///
/// A header has no checksum of its own, so the codec must wait for the rest of a frame whenever a start byte and a
/// known message come. A damaged length can delay up to 280 bytes: `idle` delivers finished frames behind it, and
/// `expire` gives it up. If the checksum is wrong, the length may be wrong, too. So the search continues one byte
/// behind the start, and frames inside are delivered.
///
/// A message that isn't in `MAVLinkTable` can't be checked. Its frame is skipped as a whole and reported as
/// `FrameOutcome.otherVersion` if its sender has sent frames that could be checked, and if the next frame or silence
/// follows it. Otherwise it is taken for noise. A known message with a right checksum and unknown incompatibility flags
/// is skipped and reported as `otherVersion`, too. A signature is delivered unchecked.
///
/// Each byte is examined once for each start byte among the 280 bytes before it. Only the bytes of an unfinished frame
/// are kept.
public struct MAVLinkCodec: FrameCodec {
  /// The longest payload, in bytes.
  public static let maximumPayload = 255

  private var scanner = MAVLinkScanner()
  /// The kept bytes, which begin with an unfinished frame.
  private var kept: [UInt8] = []
  /// How many bytes must be kept before another scan makes sense.
  private var needed = 0
  /// The position in the stream of the first kept byte.
  private var position = 0

  /// How many bytes are processed at a time, which bounds the memory.
  private static let pieceByteCount = 1_024

  /// A codec at the start of a stream.
  public init() {}

  /// What has been counted since the codec was made.
  public var counters: FrameCounters { scanner.counters }

  /// Whether bytes are kept that may begin a frame, even if only a single start byte.
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

  /// Handles silence on the line: delivers whole frames behind the unfinished one, each only once, and skips a frame
  /// that can't be checked and ends here.
  public mutating func idle(into batch: inout FrameBatch<MAVLinkHeader>) {
    guard !kept.isEmpty else { return }
    scan(from: 0, isSilent: true, into: &batch)
    let kept = kept
    scanner.lookPast(kept.span.bytes, base: position, into: &batch)
  }

  /// Gives up the unfinished frame, and looks for others in the bytes behind its start. A frame that is found there may
  /// be unfinished as well; it is kept.
  public mutating func expire(into batch: inout FrameBatch<MAVLinkHeader>) {
    guard !kept.isEmpty else { return }
    scan(from: 1, isSilent: false, into: &batch)
  }

  /// Forgets everything but the counters. The kept bytes are not counted as skipped.
  public mutating func reset() {
    scanner.reset()
    kept.removeAll(keepingCapacity: true)
    (needed, position) = (0, 0)
  }

  /// Appends one frame to `output`. The payload is sent unchanged; `MAVLinkMessage.payload` returns it in the form of
  /// each version.
  ///
  /// - Throws: `FrameEncodingError` if the payload is too long or too short, if the version can't carry the message, or
  ///   if the message isn't in `MAVLinkTable`.
  public func encode(
    _ header: MAVLinkHeader, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    try payload.check(0, to: Self.maximumPayload)
    guard let definition = MAVLinkTable.definition(of: header.message), header.version == .two || header.message < 256
    else {
      throw .unknownMessage(header.message)
    }
    if header.version == .one { try payload.check(definition.baseByteCount, to: definition.fullByteCount) }
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

  /// Scans the kept bytes and drops those that are no longer needed.
  private mutating func scan(from index: Int, isSilent: Bool, into batch: inout FrameBatch<MAVLinkHeader>) {
    // The bytes are taken out of the property: a span of the property would not allow changes of the scanner.
    var bytes: [UInt8] = []
    swap(&bytes, &kept)
    // A byte in front of `index` belongs to a frame that was given up.
    scanner.counters.skippedBytes += UInt64(index)
    let stop = scanner.scan(bytes.span.bytes, from: index, base: position, isSilent: isSilent, into: &batch)
    needed = stop.needed
    position += stop.index
    bytes.removeFirst(stop.index)
    swap(&bytes, &kept)
  }
}
