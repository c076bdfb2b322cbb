// SPDX-License-Identifier: Apache-2.0

/// Finds AF1 frames in a run of bytes, and keeps what the rules need to know from one run to the next.
///
/// It holds no bytes itself: `AF1Codec` calls it on its input, or on the bytes it has kept. Positions count bytes from
/// the start of the stream.
struct AF1Scanner: Sendable {
  let maximumPayload: Int
  var counters = FrameCounters()

  /// The end of the failed extent: a frame that ends at or before it may be part of a damaged frame's payload.
  private var suspectEnd = 0
  /// Starts of frames that were delivered on silence, from behind an unfinished frame, in rising order.
  private var delivered: [Int] = []

  /// Copied to a local before use, as a span of a stored property would forbid to change any other.
  private let tables = (
    header: CRCTable.table(for: .crc16IBM3740), payload: CRCTable.table(for: .crc32ISOHDLC)
  )

  init(maximumPayload: Int) { self.maximumPayload = maximumPayload }

  /// Where a scan stopped.
  struct Stop {
    /// The index of the first byte that must be kept.
    var index: Int
    /// How many bytes from there on are needed before it makes sense to scan again.
    var needed: Int
  }

  /// What a sync byte at some index turned out to begin.
  private enum Candidate {
    /// Nothing; the scan goes on at this index.
    case none(next: Int)
    /// A header with a bad checksum.
    case badHeader
    /// A good header.
    case frame(AF1Header)
    /// Too few bytes to tell.
    case undecided
  }

  /// Forgets what belongs to the stream, and keeps the counters.
  mutating func reset() {
    suspectEnd = 0
    delivered.removeAll()
  }

  /// Takes all frames out of `bytes` from `start` on, up to one that is unfinished.
  ///
  /// `base` is the position of the first byte of `bytes`.
  mutating func scan(
    _ bytes: RawSpan, from start: Int, base: Int, into batch: inout FrameBatch<AF1Header>
  ) -> Stop {
    let tables = tables
    let headerTable = tables.header.entries.span
    let payloadTable = tables.payload.entries.span
    var index = start
    // Bytes before this index are accounted for, as delivered or as skipped.
    var accounted = start
    var stop = Stop(index: bytes.byteCount, needed: AF1Header.byteCount)

    scan: while true {
      let header: AF1Header
      switch Self.candidate(in: bytes, at: index, headerTable) {
      case .none(let next):
        index = next
        if index == bytes.byteCount { break scan }
        continue
      case .badHeader:
        if base + index >= suspectEnd { counters.headerErrors += 1 }
        index += 1
        continue
      case .undecided:
        stop.index = index
        break scan
      case .frame(let good):
        header = good
      }

      let byteCount = header.frameByteCount
      let position = base + index
      if !delivered.isEmpty, wasDelivered(position) {
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
        break scan
      }
      if let payload = Self.payload(of: header, in: bytes, at: index, payloadTable) {
        counters.frames += 1
        batch.append(.whole, header, payload: bytes.extracting(payload))
        counters.skippedBytes += UInt64(index - accounted)
        index += byteCount
        accounted = index
      } else {
        counters.payloadErrors += 1
        batch.append(.payloadDamaged, header)
        // A suspect may be payload itself, so its failure says nothing about the frames behind it: were the extent to
        // grow by it, damage to one frame could cost others.
        if !isSuspect { suspectEnd = position + byteCount }
        index += 2
      }
    }
    counters.skippedBytes += UInt64(stop.index - accounted)
    return stop
  }

  /// Delivers frames that are whole in `bytes`, which begin with an unfinished frame, and remembers them.
  ///
  /// Frames that are damaged, too long or of another version are left for `scan` to report.
  mutating func lookPast(_ bytes: RawSpan, base: Int, into batch: inout FrameBatch<AF1Header>) {
    let tables = tables
    let headerTable = tables.header.entries.span
    let payloadTable = tables.payload.entries.span
    var suspectEnd = suspectEnd
    var index = 2
    while index < bytes.byteCount {
      let header: AF1Header
      switch Self.candidate(in: bytes, at: index, headerTable) {
      case .none(let next):
        index = next
        continue
      case .badHeader:
        index += 1
        continue
      case .undecided:
        return
      case .frame(let good):
        header = good
      }

      let byteCount = header.frameByteCount
      let position = base + index
      let mark = deliveredIndex(from: position)
      if mark < delivered.count, delivered[mark] == position {
        index += byteCount
        continue
      }
      let isPassedOver =
        position + byteCount <= suspectEnd || header.version != AF1Header.currentVersion
        || Int(header.payloadLength) > maximumPayload || byteCount > bytes.byteCount - index
      if isPassedOver {
        index += 2
        continue
      }
      if let payload = Self.payload(of: header, in: bytes, at: index, payloadTable) {
        counters.frames += 1
        batch.append(.whole, header, payload: bytes.extracting(payload))
        delivered.insert(position, at: mark)
        index += byteCount
      } else {
        if position >= suspectEnd { suspectEnd = position + byteCount }
        index += 2
      }
    }
  }

  /// Whether the frame at `position` was delivered already; forgets those before it.
  private mutating func wasDelivered(_ position: Int) -> Bool {
    delivered.removeFirst(deliveredIndex(from: position))
    return delivered.first == position
  }

  /// The index of the first delivered frame at `position` or behind it.
  private func deliveredIndex(from position: Int) -> Int {
    var low = 0
    var high = delivered.count
    while low < high {
      let middle = (low + high) / 2
      if delivered[middle] < position { low = middle + 1 } else { high = middle }
    }
    return low
  }

  @inline(__always)
  private static func candidate(in bytes: RawSpan, at index: Int, _ table: Span<UInt32>) -> Candidate {
    let count = bytes.byteCount
    if count - index >= AF1Header.byteCount {
      let word = bytes.load(littleEndianAt: index, as: UInt64.self)
      if UInt16(truncatingIfNeeded: word) == AF1Header.sync {
        let stated = bytes.load(littleEndianAt: index + 8, as: UInt16.self)
        return CRCKernels.ibm3740(word, table) == stated ? .frame(AF1Header(word: word)) : .badHeader
      }
      let isFirstSyncByte = UInt8(truncatingIfNeeded: word) == 0x0F
      return .none(next: CRCKernels.firstIndex(of: 0x0F, in: bytes, from: isFirstSyncByte ? index + 1 : index))
    }
    guard index < count else { return .none(next: count) }
    guard bytes.byte(at: index) == 0x0F else {
      return .none(next: CRCKernels.firstIndex(of: 0x0F, in: bytes, from: index))
    }
    guard index + 1 < count, bytes.byte(at: index + 1) != 0xF0 else { return .undecided }
    return .none(next: index + 1)
  }

  /// Where the payload of the frame at `index` lies, all of which is in `bytes`; `nil` if its checksum fails.
  @inline(__always)
  private static func payload(
    of header: AF1Header, in bytes: RawSpan, at index: Int, _ table: Span<UInt32>
  ) -> Range<Int>? {
    let start = index + AF1Header.byteCount
    let end = start + Int(header.payloadLength)
    if header.payloadLength == 0 { return start..<end }
    let stated = bytes.load(littleEndianAt: end, as: UInt32.self)
    return ~CRCKernels.reflected(.max, bytes.extracting(start..<end), table) == stated ? start..<end : nil
  }
}
