// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Finds MAVLink frames in a run of bytes, and keeps the state that is needed from one run to the next.
///
/// It stores no bytes. Positions count bytes from the start of the stream.
struct MAVLinkScanner: Sendable {
  var counters = FrameCounters()

  /// The system and component numbers of the last senders of frames with a right checksum.
  private var senders: [UInt16] = []
  private var nextSender = 0
  private var delivered = DeliveredFrames()

  /// How many senders are remembered; a further one replaces the oldest.
  private static let mostSenders = 32

  /// Where a scan stopped.
  struct Stop {
    /// The index of the first byte that must be kept.
    var index: Int
    /// How many bytes from there on are needed before it makes sense to scan again.
    var needed: Int
  }

  /// The result of looking for a frame at an index.
  private enum Find {
    /// A frame with a right checksum.
    case frame(MAVLinkHeader, payload: Range<Int>, end: Int)
    /// A frame with a right checksum, but with unknown incompatibility flags.
    case unknownFlags(MAVLinkHeader, end: Int)
    /// A whole frame that can't be checked, from a sender of other frames that could be. It may be noise.
    case unknownMessage(MAVLinkHeader, end: Int)
    /// A frame with a wrong checksum.
    case damaged(MAVLinkHeader)
    /// No frame begins here.
    case nothing
    /// At least this many bytes from the index on are needed to decide.
    case needs(Int)
  }

  /// Forgets the state of the stream, and keeps the counters.
  mutating func reset() {
    senders.removeAll()
    nextSender = 0
    delivered.removeAll()
  }

  /// Appends all frames in `bytes` from `start` on to `batch`, up to the first unfinished one.
  ///
  /// `base` is the position of the first byte of `bytes`. With `isSilent` the line has fallen silent; then a frame that
  /// can't be checked may end with the last byte, without another frame behind it.
  mutating func scan(
    _ bytes: RawSpan, from start: Int, base: Int, isSilent: Bool, into batch: inout FrameBatch<MAVLinkHeader>
  ) -> Stop {
    var index = start
    // Bytes before this index have been delivered or counted as skipped.
    var accounted = start
    let stop: Stop
    scanning: while true {
      index = Self.firstStart(in: bytes, from: index)
      switch find(in: bytes, at: index) {
      case .needs(let count):
        stop = Stop(index: index, needed: count)
        break scanning
      case .nothing:
        counters.headerErrors += 1
        index += 1
      case .damaged(let header):
        // The length may be wrong, so the search continues behind the first byte.
        if isSender(header) { report(.payloadDamaged, header, into: &batch) } else { counters.headerErrors += 1 }
        index += 1
      case .unknownFlags(let header, let end):
        report(.otherVersion, header, into: &batch)
        index = end
      case .unknownMessage(let header, let end):
        if end == bytes.byteCount, !isSilent {
          stop = Stop(index: index, needed: end - index + 1)
          break scanning
        }
        if end == bytes.byteCount || Self.isStart(bytes.byte(at: end)) {
          report(.otherVersion, header, into: &batch)
          index = end
        } else {
          counters.headerErrors += 1
          index += 1
        }
      case .frame(let header, let payload, let end):
        let wasDelivered = !delivered.isEmpty && delivered.take(base + index)
        if !wasDelivered { deliver(header, bytes.extracting(payload), into: &batch) }
        counters.skippedBytes += UInt64(index - accounted)
        index = end
        accounted = end
      }
    }
    counters.skippedBytes += UInt64(stop.index - accounted)
    return stop
  }

  /// Delivers the whole frames in `bytes`, which begin with an unfinished frame, and remembers their positions.
  /// Everything else is left for `scan` to report.
  mutating func lookPast(_ bytes: RawSpan, base: Int, into batch: inout FrameBatch<MAVLinkHeader>) {
    var index = 1
    while true {
      index = Self.firstStart(in: bytes, from: index)
      if index >= bytes.byteCount { return }
      guard case .frame(let header, let payload, let end) = find(in: bytes, at: index) else {
        index += 1
        continue
      }
      if delivered.insert(base + index) { deliver(header, bytes.extracting(payload), into: &batch) }
      index = end
    }
  }

  // MARK: - One frame

  private func find(in bytes: RawSpan, at index: Int) -> Find {
    guard index < bytes.byteCount else { return .needs(1) }
    guard index + 1 < bytes.byteCount else { return .needs(2) }
    let version: MAVLinkVersion = bytes.byte(at: index) == MAVLinkVersion.one.start ? .one : .two
    guard let header = MAVLinkHeader(bytes, at: index, version) else { return .needs(version.headerByteCount) }
    let count = Int(bytes.byte(at: index + 1))
    let end = index + header.frameByteCount(payload: count)
    let hasUnknownFlags = header.incompatibilityFlags & ~MAVLinkHeader.signed != 0
    guard let definition = MAVLinkTable.definition(of: header.message) else {
      guard isSender(header), !hasUnknownFlags else { return .nothing }
      return end <= bytes.byteCount ? .unknownMessage(header, end: end) : .needs(end - index)
    }
    // Version 1 has no extensions, but some senders add them behind its fields.
    if version == .one, !(definition.baseByteCount...definition.fullByteCount).contains(count) { return .nothing }
    guard end <= bytes.byteCount else { return .needs(end - index) }
    let payload = (index + version.headerByteCount)..<(index + version.headerByteCount + count)
    let stated = bytes.load(littleEndianAt: payload.upperBound, as: UInt16.self)
    guard MAVLinkChecksum.value(bytes.extracting((index + 1)..<payload.upperBound), seed: definition.seed) == stated
    else {
      return .damaged(header)
    }
    if hasUnknownFlags { return .unknownFlags(header, end: end) }
    var signed = header
    if header.isSigned {
      let start = payload.upperBound + MAVLinkHeader.checksumByteCount
      signed.signature = [UInt8](copying: bytes.extracting(start..<end))
    }
    return .frame(signed, payload: payload, end: end)
  }

  /// The index of the first start byte from `index` on; the span's count if there is none.
  private static func firstStart(in bytes: RawSpan, from index: Int) -> Int {
    var index = index
    while index < bytes.byteCount, !isStart(bytes.byte(uncheckedAt: index)) { index += 1 }
    return index
  }

  private static func isStart(_ byte: UInt8) -> Bool {
    byte == MAVLinkVersion.one.start || byte == MAVLinkVersion.two.start
  }

  private mutating func deliver(
    _ header: MAVLinkHeader, _ payload: RawSpan, into batch: inout FrameBatch<MAVLinkHeader>
  ) {
    counters.frames += 1
    if !isSender(header) { remember(header) }
    batch.append(.whole, header, payload: payload)
  }

  private mutating func report(
    _ outcome: FrameOutcome, _ header: MAVLinkHeader, into batch: inout FrameBatch<MAVLinkHeader>
  ) {
    counters.count(outcome)
    batch.append(outcome, header)
  }

  // MARK: - Senders

  private static func sender(_ header: MAVLinkHeader) -> UInt16 {
    UInt16(header.system) << 8 | UInt16(header.component)
  }

  private func isSender(_ header: MAVLinkHeader) -> Bool { senders.contains(Self.sender(header)) }

  private mutating func remember(_ header: MAVLinkHeader) {
    if senders.count < Self.mostSenders {
      senders.append(Self.sender(header))
    } else {
      senders[nextSender] = Self.sender(header)
      nextSender = (nextSender + 1) % Self.mostSenders
    }
  }
}

/// The checksum of frames.
enum MAVLinkChecksum {
  private static let table = CRCTable.table(for: .crc16MCRF4XX)

  /// CRC-16/MCRF4XX of `bytes` and the message's seed behind them. `bytes` are all bytes between the start byte and the
  /// checksum.
  static func value(_ bytes: RawSpan, seed: UInt8) -> UInt16 {
    let table = table
    let entries = table.entries.span
    let register = table.reflected(0xFFFF, bytes)
    return UInt16(truncatingIfNeeded: register >> 8 ^ entries[Int((register ^ UInt32(seed)) & 0xFF)])
  }
}
