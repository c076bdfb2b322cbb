// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Finds AF1 frames in a run of bytes, and keeps the state that is needed from one run to the next.
///
/// It stores no bytes: `AF1Codec` calls it with its input, or with the bytes that it has kept. Positions count bytes
/// from the start of the stream.
struct AF1Scanner: Sendable {
  let maximumPayload: Int
  let silence: SilenceRule
  var counters = FrameCounters()

  /// Where the last damaged frame ends, by its header. A frame that ends at or before this position may be part of a
  /// damaged frame's payload.
  private var suspectEnd = 0
  private var delivered = DeliveredFrames()

  /// Where the last payload ends whose checksum was computed and is wrong.
  private var damagedPayloadEnd = 0
  private var checkpoints = ChecksumCheckpoints(longestRange: Int(UInt16.max))
  private static let engine = ChecksumEngine(.crc(.crc32ISOHDLC), shifts: true)
  /// Functions copy this to a local before use: a span of a stored property would not allow changes of other
  /// properties.
  private let tables = (
    header: AF1Header.checksumTable, payload: CRCTable.table(for: .crc32ISOHDLC)
  )

  init(maximumPayload: Int, silence: SilenceRule) {
    self.maximumPayload = maximumPayload
    self.silence = silence
  }

  /// Where a scan stopped.
  struct Stop {
    /// The index of the first byte that must be kept.
    var index: Int
    /// How many bytes from there on are needed before it makes sense to scan again.
    var needed: Int
  }

  /// Forgets the state of the stream, and keeps the counters.
  mutating func reset() {
    suspectEnd = 0
    delivered.removeAll()
    damagedPayloadEnd = 0
    checkpoints.reset()
  }

  /// Appends all frames in `bytes` from `start` on to `batch`, up to the first unfinished one.
  ///
  /// `base` is the position of the first byte of `bytes`.
  mutating func scan(
    _ bytes: RawSpan, from start: Int, base: Int, into batch: inout FrameBatch<AF1Header>
  ) -> Stop {
    let tables = tables
    let headerTable = tables.header.entries.span
    var index = start
    var damagedPayloadEnd = damagedPayloadEnd
    defer { self.damagedPayloadEnd = damagedPayloadEnd }
    // Bytes before this index have been delivered or counted as skipped.
    var accounted = start
    let stop: Stop

    while true {
      index = ByteSearch.firstPair(0x0F, 0xF0, in: bytes, from: index)
      if bytes.byteCount - index < AF1Header.byteCount {
        stop = Stop(index: index, needed: AF1Header.byteCount)
        break
      }
      guard let header = Self.header(in: bytes, at: index, headerTable) else {
        if base + index >= suspectEnd { counters.headerErrors += 1 }
        index += 1
        continue
      }
      let byteCount = header.frameByteCount
      let position = base + index
      if !delivered.isEmpty, delivered.take(position) {
        counters.skippedBytes += UInt64(index - accounted)
        index += byteCount
        accounted = index
        continue
      }
      let isSuspect = position < suspectEnd
      if isSuspect, position + byteCount <= suspectEnd {
        index += 2
        continue
      }
      if header.version != AF1Header.currentVersion {
        counters.otherVersions += 1
        batch.append(.otherVersion, header)
        index += 2
        continue
      }
      if Int(header.payloadLength) > maximumPayload {
        counters.tooLong += 1
        batch.append(.tooLong, header)
        index += 2
        continue
      }
      if byteCount > bytes.byteCount - index {
        stop = Stop(index: index, needed: byteCount)
        break
      }
      let payload = payload(
        of: header, in: bytes, at: index, base: base, damagedPayloadEnd: &damagedPayloadEnd, tables.payload)
      if let payload {
        counters.frames += 1
        batch.append(.whole, header, payload: bytes.extracting(payload))
        counters.skippedBytes += UInt64(index - accounted)
        index += byteCount
        accounted = index
      } else {
        counters.payloadErrors += 1
        batch.append(.payloadDamaged, header)
        // A suspect frame may be part of a payload, so its failure says nothing about the frames behind it. If
        // `suspectEnd` moved then, damage to one frame could cost others.
        if !isSuspect { suspectEnd = position + byteCount }
        index += 2
      }
    }
    counters.skippedBytes += UInt64(stop.index - accounted)
    return stop
  }

  /// Delivers the whole frames in `bytes`, which begin with an unfinished frame, and remembers their positions.
  ///
  /// Frames that are damaged, too long or of another version are left for `scan` to report.
  mutating func lookPast(_ bytes: RawSpan, base: Int, into batch: inout FrameBatch<AF1Header>) {
    let tables = tables
    let headerTable = tables.header.entries.span
    var suspectEnd = suspectEnd
    var damagedPayloadEnd = damagedPayloadEnd
    var index = 2
    // Whole frames that follow one another without a gap, and where the last of them ends.
    var chain: [(header: AF1Header, index: Int)] = []
    var chainEnd = 0
    while true {
      index = ByteSearch.firstPair(0x0F, 0xF0, in: bytes, from: index)
      if bytes.byteCount - index < AF1Header.byteCount { break }
      guard let header = Self.header(in: bytes, at: index, headerTable) else {
        index += 1
        continue
      }
      let byteCount = header.frameByteCount
      let position = base + index
      let isPassedOver =
        position + byteCount <= suspectEnd || header.version != AF1Header.currentVersion
        || Int(header.payloadLength) > maximumPayload || byteCount > bytes.byteCount - index
      if isPassedOver {
        index += 2
        continue
      }
      let payload = payload(
        of: header, in: bytes, at: index, base: base, damagedPayloadEnd: &damagedPayloadEnd, tables.payload)
      if payload != nil {
        if silence == .onlyLast, index != chainEnd { chain.removeAll() }
        chain.append((header, index))
        index += byteCount
        chainEnd = index
      } else {
        if position >= suspectEnd { suspectEnd = position + byteCount }
        index += 2
      }
    }
    if silence == .onlyLast, chainEnd != bytes.byteCount { return }
    for (header, index) in chain {
      guard delivered.insert(base + index) else { continue }
      counters.frames += 1
      let start = index + AF1Header.byteCount
      batch.append(.whole, header, payload: bytes.extracting(start..<(start + Int(header.payloadLength))))
    }
  }

  /// Prepares for giving up the unfinished frame. All bytes up to `end` may be part of it.
  mutating func giveUp(to end: Int) {
    if silence == .onlyLast { suspectEnd = max(suspectEnd, end) }
  }

  /// Reads the header from the ten bytes at `index`; `nil` if its checksum is wrong.
  @inline(__always)
  private static func header(in bytes: RawSpan, at index: Int, _ table: Span<UInt32>) -> AF1Header? {
    let word = bytes.load(littleEndianAt: index, as: UInt64.self)
    let stated = bytes.load(littleEndianAt: index + 8, as: UInt16.self)
    return AF1Header.checksum(of: word, table) == stated ? AF1Header(word: word) : nil
  }

  /// The range of the payload of the frame at `index`, which is wholly in `bytes`; `nil` if its checksum is wrong.
  ///
  /// Bytes in front of `damagedPayloadEnd` were part of a payload with a wrong checksum. They have been read once, and
  /// checkpoints avoid reading them again for every header among them.
  @inline(__always)
  private mutating func payload(
    of header: AF1Header, in bytes: RawSpan, at index: Int, base: Int, damagedPayloadEnd: inout Int, _ table: CRCTable
  ) -> Range<Int>? {
    let start = index + AF1Header.byteCount
    let end = start + Int(header.payloadLength)
    if header.payloadLength == 0 { return start..<end }
    let found =
      base + start < damagedPayloadEnd
      ? ~checkpoints.advance(.max, over: start..<end, in: bytes, base: base, Self.engine)
      : ~table.reflected(.max, bytes.extracting(start..<end))
    if found == bytes.load(littleEndianAt: end, as: UInt32.self) { return start..<end }
    damagedPayloadEnd = max(damagedPayloadEnd, base + end)
    return nil
  }
}
