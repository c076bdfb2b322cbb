// SPDX-License-Identifier: Apache-2.0

/// The framing of any `DelimitedFormat`: lines, or other records that end with a delimiter.
///
/// A record longer than the limit is reported once, as soon as that is certain, and skipped to its delimiter. Where the
/// escape has a mask, a delimiter right behind an escape still ends the record, which is then `malformed`: in HDLC that
/// is how a sender aborts.
///
/// Damage costs the record it is in, and the next one if a delimiter was lost. A codec that begins in the middle of a
/// record delivers its end as if it were one. Silence changes nothing; what has expired is forgotten, and the next byte
/// begins a record.
public struct DelimitedCodec: FrameCodec {
  /// The form of the records.
  public let format: DelimitedFormat
  /// The longest record that is taken or sent, in bytes, without delimiter and before escaping.
  public let maximumPayload: Int

  private var record: RecordBuffer
  /// What ends or changes a run of plain bytes.
  private let specials: ByteSearch.Needles
  /// Bytes of which each has to be escaped.
  private let delimiterBytes: [UInt8]
  /// The delimiter if it is a sequence, else empty.
  private let sequence: [UInt8]
  /// For each length of a part of the sequence, the length of its longest proper end with which the sequence begins.
  private let fallbacks: [Int]
  /// How many bytes of the sequence have just been seen.
  private var matched = 0
  /// Whether the last byte was an escape.
  private var isEscaped = false

  /// A codec at the start of a record.
  ///
  /// - Parameters:
  ///   - format: The form of the records.
  ///   - maximumPayload: The longest record that is taken or sent, in bytes. It bounds the memory.
  /// - Throws: `FramingParameterError` if there can be no such records.
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

  /// What has been seen since the codec was made.
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

  /// Silence ends no record.
  public mutating func idle(into batch: inout FrameBatch<NoHeader>) {}

  /// Gives up the unfinished record; its bytes count as skipped. The next byte begins a record.
  public mutating func expire(into batch: inout FrameBatch<NoHeader>) {
    record.consume(matched)
    record.giveUp()
    forgetState()
  }

  /// Forgets everything but the counters, in which forgotten bytes do not appear.
  public mutating func reset() {
    record.forget()
    forgetState()
  }

  /// Appends one record and its delimiter to `output`.
  ///
  /// - Throws: `FrameEncodingError` if the record is longer than `maximumPayload`, empty where empty ones are not
  ///   kept, or contains the delimiter and there is no escape; also if it ends with the delimiter's beginning, so that
  ///   it would end too soon.
  public func encode(
    _ header: NoHeader, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    guard payload.byteCount <= maximumPayload else {
      throw .payloadTooLong(byteCount: payload.byteCount, limit: maximumPayload)
    }
    if payload.isEmpty, !format.keepsEmpty { throw .payloadTooShort(byteCount: 0, minimum: 1) }
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

  /// Takes one byte that is special, or that follows a part of the delimiter.
  private mutating func take(_ byte: UInt8, into batch: inout FrameBatch<NoHeader>) {
    if sequence.isEmpty {
      if delimiterBytes.contains(byte) { return end(into: &batch) }
    } else {
      // As long as the byte does not continue the delimiter, its first bytes were part of the record.
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

  /// How long the delimiter at `index` is, or `nil` if there is none or not all of it.
  private func delimiter(in bytes: RawSpan, at index: Int) -> Int? {
    guard index < bytes.byteCount else { return nil }
    if sequence.isEmpty { return delimiterBytes.contains(bytes.byte(at: index)) ? 1 : nil }
    guard bytes.byteCount - index >= sequence.count else { return nil }
    for offset in sequence.indices where bytes.byte(at: index + offset) != sequence[offset] { return nil }
    return sequence.count
  }

  /// Checks that no delimiter is found in `payload`, nor across its end.
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
