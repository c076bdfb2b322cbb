// SPDX-License-Identifier: Apache-2.0

/// COBS, consistent overhead byte stuffing (Cheshire and Baker, IEEE/ACM Transactions on Networking 7, 1999): packets
/// without zeros inside, and a zero behind each.
///
/// A packet consists of blocks. A block begins with a code n, 1…255, and n − 1 bytes follow. It stands for these bytes
/// and, if n is not 255 and another block follows, for a zero. The only possible error is that fewer bytes follow
/// before the zero that ends the packet; it is reported. A packet longer than the limit is reported once, and skipped
/// to the next zero. Zeros with nothing in between are ignored. There is no checksum: see `CheckedCodec`.
///
/// A codec that begins in the middle of a packet may deliver the rest of it as a packet. Silence changes nothing.
/// `expire` drops an unfinished packet, and the next byte begins a packet.
public struct COBSCodec: FrameCodec {
  /// The longest packet that is accepted or encoded, in bytes, before stuffing.
  public let maximumPayload: Int

  private var record: RecordBuffer
  /// How many bytes of the block are still to come.
  private var remaining = 0
  /// Whether a zero is to be added if another block follows.
  private var isZeroDue = false

  /// The most bytes that a block has behind its code.
  private static let longestRun = 254

  /// A codec at the start of a packet.
  ///
  /// - Parameter maximumPayload: The longest packet that is accepted or encoded, in bytes. It bounds the memory.
  /// - Throws: `FramingParameterError` if the limit is out of bounds.
  public init(maximumPayload: Int) throws(FramingParameterError) {
    self.maximumPayload = maximumPayload
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
    let count = bytes.byteCount
    var offset = 0
    while offset < count {
      if record.isSpoiled {
        let zero = ByteSearch.firstIndex(of: 0, in: bytes, from: offset)
        record.consume(zero - offset)
        offset = zero
        if offset == count { return }
        offset += 1
        end(into: &batch)
      } else if remaining > 0 {
        let block = bytes.extracting(offset..<min(count, offset + remaining))
        let length = ByteSearch.firstIndex(of: 0, in: block, from: 0)
        record.consume(length)
        record.append(block.extracting(0..<length), into: &batch)
        remaining -= length
        offset += length
        if length < block.byteCount { record.spoil(.malformed, into: &batch) }
      } else {
        let code = bytes.byte(at: offset)
        offset += 1
        if code == 0 {
          end(into: &batch)
          continue
        }
        record.consume(1)
        if isZeroDue { record.append(0, into: &batch) }
        remaining = Int(code) - 1
        isZeroDue = remaining < Self.longestRun
      }
    }
  }

  /// Gives up the unfinished packet; its bytes count as skipped. The next byte begins a packet.
  public mutating func expire(into batch: inout FrameBatch<NoHeader>) {
    record.giveUp()
    forgetBlock()
  }

  /// Forgets everything but the counters. The kept bytes are not counted as skipped.
  public mutating func reset() {
    record.forget()
    forgetBlock()
  }

  /// Appends one packet to `output`.
  ///
  /// - Throws: `FrameEncodingError.payloadTooLong` if the packet is longer than `maximumPayload`.
  public func encode(
    _ header: NoHeader, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    try payload.check(0, to: maximumPayload)
    var offset = 0
    while true {
      let block = payload.extracting(offset..<min(payload.byteCount, offset + Self.longestRun))
      let length = ByteSearch.firstIndex(of: 0, in: block, from: 0)
      output.append(UInt8(length + 1))
      output.append(contentsOf: block.extracting(0..<length))
      offset += length
      if length < block.byteCount {
        // Skips the zero, for which the block stands. If it is the last byte, an empty block follows.
        offset += 1
      } else if offset == payload.byteCount {
        break
      }
    }
    output.append(0)
  }

  private mutating func end(into batch: inout FrameBatch<NoHeader>) {
    record.end(keepsEmpty: !record.isAtStart, into: &batch)
    forgetBlock()
  }

  private mutating func forgetBlock() {
    remaining = 0
    isZeroDue = false
  }
}
