// SPDX-License-Identifier: Apache-2.0

/// The framing of any `DelimitedFormat`: lines, or other records that end with a delimiter.
///
/// A record longer than the limit is reported once, as soon as that is certain, and skipped to its delimiter. If the
/// escape has a mask, a delimiter right behind an escape still ends the record, which is then `malformed`: an HDLC
/// sender aborts a frame in this way.
///
/// Damage costs the record that it is in, and the next one if a delimiter was lost. A codec that begins in the middle
/// of a record delivers the rest of it as a record. Silence changes nothing. `expire` drops an unfinished record, and
/// the next byte begins a record.
public struct DelimitedCodec: FrameCodec {
  /// The format of the records.
  public let format: DelimitedFormat
  /// The longest record that is accepted or encoded, in bytes, without delimiter and before escaping.
  public let maximumPayload: Int

  private var record: RecordBuffer
  /// The bytes that may end a run of plain bytes.
  private let specials: ByteSearch.Needles
  /// The bytes that must be escaped within a record.
  private let delimiterBytes: [UInt8]
  /// The delimiter if it is a sequence, otherwise empty.
  private let sequence: [UInt8]
  /// For each number of matched bytes of the sequence: how many of the last of these bytes are also the beginning of
  /// the sequence.
  private let fallbacks: [Int]
  /// How many bytes of the sequence were the last bytes of the input.
  private var matched = 0
  /// Whether the last byte was an escape.
  private var isEscaped = false

  /// A codec at the start of a record.
  ///
  /// - Parameters:
  ///   - format: The format of the records.
  ///   - maximumPayload: The longest record that is accepted or encoded, in bytes. It bounds the memory.
  /// - Throws: `FramingParameterError` if the parameters of the format don't fit together.
  public init(_ format: DelimitedFormat, maximumPayload: Int) throws(FramingParameterError) {
    try format.validate()
    self.format = format
    self.maximumPayload = maximumPayload
    record = try RecordBuffer(maximumPayload: maximumPayload)
    var starts: [UInt8]
    switch format.delimiter {
    case .sequence(let bytes):
      sequence = bytes
      delimiterBytes = bytes
      starts = [bytes[0]]
    case .anyOf(let bytes, _):
      sequence = []
      delimiterBytes = bytes
      starts = bytes
    }
    if let escape = format.escape { starts.append(escape.byte) }
    specials = ByteSearch.Needles(starts)
    fallbacks = Self.fallbacks(of: sequence)
  }

  /// What has been counted since the codec was made.
  public var counters: FrameCounters { record.counters }

  /// Whether a record has begun that has not ended.
  public var hasUnfinishedFrame: Bool { !record.isAtStart || matched > 0 }

  /// How many bytes are kept, at most `maximumPayload`.
  public var unfinishedByteCount: Int { record.byteCount }

  /// The room for kept bytes, for tests.
  var keptCapacity: Int { record.capacity }

  /// Takes the next bytes of the stream and appends to `batch` every record that they complete.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<NoHeader>) {
    let count = bytes.byteCount
    var offset = 0
    while offset < count {
      if isEscaped, let escape = format.escape {
        isEscaped = false
        let byte = bytes.byte(at: offset)
        if escape.mask == 0 || !delimiterBytes.contains(byte) {
          offset += 1
          record.consume(1)
          record.append(byte ^ escape.mask, into: &batch)
          continue
        }
        record.spoil(.malformed, into: &batch)
      }
      if matched == 0 {
        let stop = ByteSearch.firstIndex(ofAny: specials, in: bytes, from: offset)
        let run = bytes.extracting(offset..<stop)
        if record.isAtStart, !run.isEmpty, run.byteCount <= maximumPayload,
          let length = delimiter(in: bytes, at: stop)
        {
          record.deliver(run, into: &batch)
          offset = stop + length
          continue
        }
        record.consume(run.byteCount)
        record.append(run, into: &batch)
        offset = stop
        if offset == count { return }
      }
      take(bytes.byte(at: offset), into: &batch)
      offset += 1
    }
  }

  /// Gives up the unfinished record; its bytes count as skipped. The next byte begins a record.
  public mutating func expire(into batch: inout FrameBatch<NoHeader>) {
    record.consume(matched)
    record.giveUp()
    forgetState()
  }

  /// Forgets everything but the counters. The kept bytes are not counted as skipped.
  public mutating func reset() {
    record.forget()
    forgetState()
  }

  /// Appends one record and its delimiter to `output`.
  ///
  /// - Throws: `FrameEncodingError` if the record is longer than `maximumPayload`, or empty although the format drops
  ///   empty records. Also if there is no escape and the record contains the delimiter, or ends with a part of it so
  ///   that the receiver would find the delimiter too early.
  public func encode(
    _ header: NoHeader, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    try payload.check(format.keepsEmpty ? 0 : 1, to: maximumPayload)
    if format.escape == nil { try checkPlain(payload) }
    for offset in 0..<payload.byteCount {
      let byte = payload.byte(at: offset)
      if let escape = format.escape, byte == escape.byte || delimiterBytes.contains(byte) {
        output.append(escape.byte)
        output.append(byte ^ escape.mask)
      } else {
        output.append(byte)
      }
    }
    switch format.delimiter {
    case .sequence(let bytes), .anyOf(_, sent: let bytes): output.append(contentsOf: bytes)
    }
  }

  /// Processes a byte that is special, or that follows a part of the delimiter.
  private mutating func take(_ byte: UInt8, into batch: inout FrameBatch<NoHeader>) {
    if sequence.isEmpty {
      if delimiterBytes.contains(byte) { return end(into: &batch) }
    } else {
      // If the byte doesn't continue the delimiter, the first of the matched bytes were part of the record.
      while matched > 0, sequence[matched] != byte {
        let kept = fallbacks[matched]
        record.consume(matched - kept)
        for index in 0..<(matched - kept) { record.append(sequence[index], into: &batch) }
        matched = kept
      }
      if sequence[matched] == byte {
        matched += 1
        if matched == sequence.count { end(into: &batch) }
        return
      }
    }
    record.consume(1)
    if byte == format.escape?.byte {
      isEscaped = true
    } else {
      record.append(byte, into: &batch)
    }
  }

  private mutating func end(into batch: inout FrameBatch<NoHeader>) {
    record.end(keepsEmpty: format.keepsEmpty, into: &batch)
    matched = 0
  }

  private static func fallbacks(of sequence: [UInt8]) -> [Int] {
    (0..<max(1, sequence.count)).map { length in
      (0..<length).last { sequence[(length - $0)..<length].elementsEqual(sequence.prefix($0)) } ?? 0
    }
  }

  private mutating func forgetState() {
    matched = 0
    isEscaped = false
  }

  /// The length of the delimiter at `index`; `nil` if there is none, or only a part of it.
  private func delimiter(in bytes: RawSpan, at index: Int) -> Int? {
    guard index < bytes.byteCount else { return nil }
    if sequence.isEmpty { return delimiterBytes.contains(bytes.byte(at: index)) ? 1 : nil }
    guard bytes.byteCount - index >= sequence.count else { return nil }
    for offset in sequence.indices where bytes.byte(at: index + offset) != sequence[offset] { return nil }
    return sequence.count
  }

  /// Checks that the receiver finds no delimiter within `payload`, nor across its end.
  private func checkPlain(_ payload: RawSpan) throws(FrameEncodingError) {
    if sequence.isEmpty {
      for offset in 0..<payload.byteCount where delimiterBytes.contains(payload.byte(at: offset)) {
        throw .unencodableByte(offset: offset)
      }
      return
    }
    for offset in 0..<payload.byteCount {
      let isDelimiter = sequence.indices.allSatisfy { index in
        let at = offset + index
        let byte = at < payload.byteCount ? payload.byte(at: at) : sequence[at - payload.byteCount]
        return byte == sequence[index]
      }
      if isDelimiter { throw .unencodableByte(offset: offset) }
    }
  }
}
