// SPDX-License-Identifier: Apache-2.0

/// Frames of one length, known only by some bits that are always the same, such as the four bytes that the HM-1X remote
/// control sends: pattern 00 00 00 3A with mask C0 80 80 FF.
///
/// The payload is the whole window. A window with wrong bits is a slip: it costs one byte, and from then on two good
/// windows must follow one another before they are believed and delivered. Frames in which every alignment looks good
/// cannot be told apart: a window of equal bytes, for one.
///
/// The first window after a start or `reset` is believed at once. Silence changes nothing, be it that a good window
/// waits for its second; `expire` drops what is kept, fewer bytes than two windows, and counts as a slip.
public struct WindowCodec: FrameCodec {
  /// What the bits of each byte must be; 1…64 bytes.
  public let pattern: [UInt8]
  /// Which bits that are, for each byte.
  public let mask: [UInt8]

  /// What has been seen since the codec was made. Each slip is one header error.
  public private(set) var counters = FrameCounters()

  /// Whether windows are where they are expected.
  private var isAligned = true
  private var kept: [UInt8] = []

  /// A codec at the start of a frame.
  ///
  /// - Parameters:
  ///   - pattern: What the bits of each byte must be, 1…64 bytes; their number is the length of a frame.
  ///   - mask: Which bits that are, as many bytes, not all zero.
  /// - Throws: `FramingParameterError` if there can be no such frames.
  public init(pattern: [UInt8], mask: [UInt8]) throws(FramingParameterError) {
    guard (1...64).contains(pattern.count) else { throw FramingParameterError("pattern", "must be 1 to 64 bytes") }
    guard mask.count == pattern.count, mask.contains(where: { $0 != 0 }) else {
      throw FramingParameterError("mask", "must be as long as the pattern and not all zero")
    }
    self.pattern = zip(pattern, mask).map { $0 & $1 }
    self.mask = mask
    kept.reserveCapacity(4 * pattern.count)
  }

  /// Whether bytes are kept, be it a good window that waits for its second.
  public var hasUnfinishedFrame: Bool { !kept.isEmpty }

  /// How many bytes are kept, fewer than two windows.
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
        // What is left came with this call: go on in the input itself.
        offset -= kept.count
        kept.removeAll(keepingCapacity: true)
      }
    }
    let stop = scan(bytes, from: offset, into: &batch)
    kept.append(contentsOf: bytes.extracting(stop..<count))
  }

  /// Silence changes nothing.
  public mutating func idle(into batch: inout FrameBatch<NoHeader>) {}

  /// Drops what is kept; the next byte begins a window, which must be confirmed by a second one.
  public mutating func expire(into batch: inout FrameBatch<NoHeader>) {
    if kept.isEmpty { return }
    counters.skippedBytes += UInt64(kept.count)
    kept.removeAll(keepingCapacity: true)
    isAligned = false
  }

  /// Forgets everything but the counters, in which forgotten bytes do not appear.
  public mutating func reset() {
    kept.removeAll(keepingCapacity: true)
    isAligned = true
  }

  /// Appends one frame to `output`.
  ///
  /// - Throws: `FrameEncodingError` if the payload is not of the window's length, or has wrong bits.
  public func encode(
    _ header: NoHeader, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    guard payload.byteCount <= pattern.count else {
      throw .payloadTooLong(byteCount: payload.byteCount, limit: pattern.count)
    }
    guard payload.byteCount == pattern.count else {
      throw .payloadTooShort(byteCount: payload.byteCount, minimum: pattern.count)
    }
    for offset in pattern.indices where payload.byte(at: offset) & mask[offset] != pattern[offset] {
      throw .unencodableByte(offset: offset)
    }
    output.append(contentsOf: payload)
  }

  /// Takes frames out of the kept bytes and drops those that are done with.
  private mutating func scanKept(into batch: inout FrameBatch<NoHeader>) {
    let stop: Int
    do {
      // A local reference, gone before the bytes change.
      let kept = kept
      stop = scan(kept.span.bytes, from: 0, into: &batch)
    }
    kept.removeFirst(stop)
  }

  /// Takes all frames out of `bytes` from `start` on, and returns the index of the first byte that must be kept.
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
