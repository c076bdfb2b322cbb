// SPDX-License-Identifier: Apache-2.0

/// Adds a checksum to the end of each payload of any framing, as many protocols do with SLIP, COBS or lines.
///
/// The checksum covers the payload that is delivered, without itself and before any stuffing. A frame whose checksum is
/// wrong, or that is shorter than the checksum, is reported as `FrameOutcome.payloadDamaged`.
public struct CheckedCodec<Base: FrameCodec>: FrameCodec {
  /// What a frame of the framing below says besides its payload.
  public typealias Header = Base.Header

  /// The framing below. Its limit includes the checksum.
  public private(set) var base: Base
  /// The algorithm.
  public var checksum: FrameChecksum { engine.checksum }
  /// The byte order of the checksum.
  public let byteOrder: ByteOrder

  private let engine: ChecksumEngine
  /// How many frames were whole for the framing below, but have a wrong checksum.
  private var failures: UInt64 = 0
  /// How many payload bytes those frames had.
  private var failedBytes: UInt64 = 0

  /// `base` with a checksum behind each payload.
  public init(_ base: Base, _ checksum: FrameChecksum, byteOrder: ByteOrder = .littleEndian) {
    self.base = base
    self.byteOrder = byteOrder
    engine = ChecksumEngine(checksum)
  }

  /// What has been counted since the codec was made.
  ///
  /// The payload bytes of a frame with a wrong checksum count as skipped.
  public var counters: FrameCounters {
    var counters = base.counters
    counters.frames -= failures
    counters.payloadErrors += failures
    counters.skippedBytes += failedBytes
    return counters
  }

  /// Whether bytes are kept that may begin a frame.
  public var hasUnfinishedFrame: Bool { base.hasUnfinishedFrame }

  /// Takes the next bytes of the stream and appends to `batch` every frame that they complete.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<Header>) {
    let first = batch.count
    base.decode(bytes, into: &batch)
    check(&batch, from: first)
  }

  /// Handles silence on the line, as the framing below does.
  public mutating func idle(into batch: inout FrameBatch<Header>) {
    let first = batch.count
    base.idle(into: &batch)
    check(&batch, from: first)
  }

  /// Gives up the unfinished frame, as the framing below does.
  public mutating func expire(into batch: inout FrameBatch<Header>) {
    let first = batch.count
    base.expire(into: &batch)
    check(&batch, from: first)
  }

  /// Forgets everything but the counters.
  public mutating func reset() { base.reset() }

  /// Appends one frame to `output`.
  ///
  /// - Throws: What the framing below throws for the payload with its checksum.
  public func encode(
    _ header: Header, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    var joined: [UInt8] = []
    joined.reserveCapacity(payload.byteCount + engine.byteCount)
    joined.append(contentsOf: payload)
    joined.append(
      engine.value(engine.advance(engine.start, over: payload)), byteCount: engine.byteCount, byteOrder)
    try base.encode(header, payload: joined, into: &output)
  }

  /// Checks the frames of `batch` from index `first` on.
  private mutating func check(_ batch: inout FrameBatch<Header>, from first: Int) {
    for index in first..<batch.count where batch.outcome(at: index) == .whole {
      let range = batch.payloadRange(at: index)
      if isIntact(batch.payloadStore.span.bytes.extracting(range)) {
        batch.shortenPayload(at: index, by: engine.byteCount)
      } else {
        batch.markPayloadDamaged(at: index)
        failures += 1
        failedBytes += UInt64(range.count)
      }
    }
  }

  private func isIntact(_ bytes: RawSpan) -> Bool {
    let end = bytes.byteCount - engine.byteCount
    guard end >= 0 else { return false }
    return engine.value(engine.advance(engine.start, over: bytes.extracting(0..<end)))
      == bytes.integer(at: end, byteCount: engine.byteCount, byteOrder)
  }
}
