// SPDX-License-Identifier: Apache-2.0

/// The framing of frames of one length that are only recognised by some constant bits, such as the four bytes that the
/// HM-1X remote control sends: pattern 00 00 00 3A with mask C0 80 80 FF.
///
/// The payload is the whole frame, called a window here. A window with wrong bits is a slip: the codec skips one byte,
/// and until two good windows follow one another it delivers none. Where every alignment looks good, as in a window of
/// equal bytes, a wrong alignment isn't noticed.
///
/// The first window after a start or `reset` is delivered at once. Silence changes nothing, even if a good window waits
/// for a second one. `expire` drops the kept bytes, fewer than two windows, and requires two good windows as after a
/// slip.
public struct WindowCodec: FrameCodec {
  /// The values of the constant bits of each byte; 1…64 bytes.
  public let pattern: [UInt8]
  /// The constant bits of each byte.
  public let mask: [UInt8]

  /// What has been counted since the codec was made. Each slip is one header error.
  public private(set) var counters = FrameCounters()

  /// Whether the last window was at the expected position. If not, two good windows are needed.
  private var isAligned = true
  private var kept: [UInt8] = []

  /// A codec at the start of a frame.
  ///
  /// - Parameters:
  ///   - pattern: The values of the constant bits of each byte, 1…64 bytes; their number is the length of a frame.
  ///   - mask: The constant bits of each byte; as many bytes, not all zero.
  /// - Throws: `FramingParameterError` if the pattern or the mask is wrong.
  public init(pattern: [UInt8], mask: [UInt8]) throws(FramingParameterError) {
    guard (1...64).contains(pattern.count) else { throw FramingParameterError("pattern", "must be 1 to 64 bytes") }
    guard mask.count == pattern.count, mask.contains(where: { $0 != 0 }) else {
      throw FramingParameterError("mask", "must be as long as the pattern and not all zero")
    }
    self.pattern = zip(pattern, mask).map { $0 & $1 }
    self.mask = mask
    kept.reserveCapacity(4 * pattern.count)
  }

  /// Whether bytes are kept, even if only a good window that waits for a second one.
  public var hasUnfinishedFrame: Bool { !kept.isEmpty }

  /// How many bytes are kept: fewer than two windows have.
  public var unfinishedByteCount: Int { kept.count }

  /// The room for kept bytes, for tests.
  var keptCapacity: Int { kept.capacity }

  /// Takes the next bytes of the stream and appends to `batch` every frame that they complete.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<NoHeader>) {
    let count = bytes.byteCount
    var offset = 0
    while !kept.isEmpty, offset < count {
      let taken = min(2 * pattern.count, count - offset)
      kept.append(contentsOf: bytes.extracting(offset..<(offset + taken)))
      offset += taken
      scanKept(into: &batch)
      if kept.count <= offset {
        // The remaining bytes came with this call: continue in the input itself.
        offset -= kept.count
        kept.removeAll(keepingCapacity: true)
      }
    }
    let stop = scan(bytes, from: offset, into: &batch)
    kept.append(contentsOf: bytes.extracting(stop..<count))
  }

  /// Drops the kept bytes. The next byte begins a window, which a second one must confirm.
  public mutating func expire(into batch: inout FrameBatch<NoHeader>) {
    if kept.isEmpty { return }
    counters.skippedBytes += UInt64(kept.count)
    kept.removeAll(keepingCapacity: true)
    isAligned = false
  }

  /// Forgets everything but the counters. The kept bytes are not counted as skipped.
  public mutating func reset() {
    kept.removeAll(keepingCapacity: true)
    isAligned = true
  }

  /// Appends one frame to `output`.
  ///
  /// - Throws: `FrameEncodingError` if the payload hasn't the length of a window, or has wrong bits.
  public func encode(
    _ header: NoHeader, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    try payload.check(pattern.count, to: pattern.count)
    for offset in pattern.indices where payload.byte(at: offset) & mask[offset] != pattern[offset] {
      throw .unencodableByte(offset: offset)
    }
    output.append(contentsOf: payload)
  }

  /// Delivers the frames in the kept bytes, and drops the bytes that are no longer needed.
  private mutating func scanKept(into batch: inout FrameBatch<NoHeader>) {
    let stop: Int
    do {
      // A local reference, which ends before `kept` changes.
      let kept = kept
      stop = scan(kept.span.bytes, from: 0, into: &batch)
    }
    kept.removeFirst(stop)
  }

  /// Appends all frames in `bytes` from `start` on to `batch`, and returns the index of the first byte that must be
  /// kept.
  private mutating func scan(_ bytes: RawSpan, from start: Int, into batch: inout FrameBatch<NoHeader>) -> Int {
    let length = pattern.count
    let count = bytes.byteCount
    var index = start
    while count - index >= length {
      if !isGood(bytes, at: index) {
        slip()
        index += 1
        continue
      }
      if !isAligned {
        if count - index < 2 * length { break }
        if !isGood(bytes, at: index + length) {
          slip()
          index += 1
          continue
        }
        isAligned = true
      }
      counters.frames += 1
      batch.append(.whole, NoHeader(), payload: bytes.extracting(index..<(index + length)))
      index += length
    }
    return index
  }

  private mutating func slip() {
    if isAligned { counters.headerErrors += 1 }
    isAligned = false
    counters.skippedBytes += 1
  }

  private func isGood(_ bytes: RawSpan, at index: Int) -> Bool {
    for offset in pattern.indices where bytes.byte(at: index + offset) & mask[offset] != pattern[offset] {
      return false
    }
    return true
  }
}
