// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// A record of the history file: a marker, the length of the content (32 bits), the content's CRC-32/ISCSI, and the content. Numbers
/// are little-endian.
enum HistoryRecord: Sendable, Hashable {
  /// The position of the timeline when the following records were written.
  case anchor(HistoryTimeline.Anchor)
  /// Buckets of one series. A bucket replaces the same bucket in earlier records.
  case spans(HistoryEntry)

  /// The first bytes of the file. Another version of the format will have another text.
  static let signature = Array("accessory-bridge history 1\n".utf8)
  private static let marker: [UInt8] = [0xAB, 0x48, 0x52, 0x31]
  private static let headerSize = 12
  /// The size of a bucket in bytes.
  private static let spanSize = 19
  /// The most buckets in a record; a complete ring has fewer.
  private static let spanLimit = 512
  private static let bootLimit = 64
  /// The longest content of a record, in bytes.
  private static let longest = 16_384

  // MARK: - Writing

  /// Appends the record to `bytes`.
  func write(to bytes: inout [UInt8]) {
    var content: [UInt8] = []
    switch self {
    case .anchor(let anchor):
      content.append(1)
      Self.add(ReadingLimits.cut(anchor.boot, to: Self.bootLimit), to: &content)
      for number in [anchor.time, anchor.uptime, anchor.wall] { Self.add(number.bitPattern, to: &content) }
    case .spans(let entry):
      content.append(2)
      Self.add(ReadingLimits.cut(entry.id, to: HistoryLadder.idBytes), to: &content)
      Self.add(ReadingLimits.cut(entry.name, to: ReadingLimits.nameBytes), to: &content)
      content.append(entry.unit == nil ? 0 : 1)
      Self.add(ReadingLimits.cut(entry.unit ?? "", to: ReadingLimits.unitBytes), to: &content)
      content.append(UInt8(clamping: entry.rung))
      let buckets = entry.buckets.suffix(Self.spanLimit)
      Self.add(UInt16(buckets.count), to: &content)
      for bucket in buckets {
        Self.add(bucket.slot, to: &content)
        Self.add(bucket.count, to: &content)
        content.append(bucket.hasGapBefore ? 1 : 0)
        for number in [bucket.mean, bucket.least, bucket.greatest] { Self.add(number.bitPattern, to: &content) }
      }
    }
    Self.write(content, to: &bytes)
  }

  /// Appends a record with this content to `bytes`.
  static func write(_ content: [UInt8], to bytes: inout [UInt8]) {
    bytes += marker
    add(UInt32(content.count), to: &bytes)
    add(CRC32.checksum(of: content.span.bytes, .crc32ISCSI), to: &bytes)
    bytes += content
  }

  private static func add(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: 0, to: number.bitWidth, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  private static func add(_ text: String, to bytes: inout [UInt8]) {
    add(UInt16(text.utf8.count), to: &bytes)
    bytes += text.utf8
  }

  // MARK: - Reading

  /// Calls `body` with each valid record of a file in order, and returns the number of bytes outside of valid records. After a
  /// damaged record it searches for the next valid one. No file can make this trap, or take more than a few times as long as an
  /// undamaged file of the same size.
  static func read(_ file: [UInt8], _ body: (HistoryRecord) -> Void) -> Int {
    guard file.starts(with: signature) else { return file.count }
    var place = signature.count
    var dropped = 0
    // Limits the work on checksums of damaged records.
    var budget = file.count
    while place < file.count {
      if let (record, end) = record(in: file, at: place, &budget) {
        body(record)
        place = end
      } else {
        dropped += 1
        place += 1
      }
    }
    return dropped
  }

  private static func record(in file: [UInt8], at place: Int, _ budget: inout Int) -> (HistoryRecord, end: Int)? {
    guard file.count - place >= headerSize, file[place..<place + 4].elementsEqual(marker) else { return nil }
    var header = Reader(bytes: file[(place + 4)..<(place + headerSize)])
    guard let length = header.number(UInt32.self).map(Int.init), let checksum = header.number(UInt32.self),
      length <= longest, length <= file.count - place - headerSize, budget > 0
    else { return nil }
    let content = Array(file[(place + headerSize)..<(place + headerSize + length)])
    guard CRC32.checksum(of: content.span.bytes, .crc32ISCSI) == checksum, let record = HistoryRecord(content) else {
      budget -= max(length, 64)
      return nil
    }
    return (record, place + headerSize + length)
  }

  /// Decodes a record's content; nil if it isn't valid.
  private init?(_ content: [UInt8]) {
    var reader = Reader(bytes: content[...])
    switch reader.number(UInt8.self) {
    case 1:
      guard let boot = reader.text(limit: Self.bootLimit), let time = reader.number(UInt64.self),
        let uptime = reader.number(UInt64.self), let wall = reader.number(UInt64.self), reader.bytes.isEmpty
      else { return nil }
      let anchor = HistoryTimeline.Anchor(
        boot: boot, time: Double(bitPattern: time), uptime: Double(bitPattern: uptime), wall: Double(bitPattern: wall))
      guard anchor.isValid else { return nil }
      self = .anchor(anchor)
    case 2:
      guard let id = reader.text(limit: HistoryLadder.idBytes), !id.isEmpty,
        let name = reader.text(limit: ReadingLimits.nameBytes), let hasUnit = reader.number(UInt8.self), hasUnit <= 1,
        let unit = reader.text(limit: ReadingLimits.unitBytes), let rung = reader.number(UInt8.self),
        Int(rung) < HistoryLadder.widths.count, let count = reader.number(UInt16.self),
        reader.bytes.count == Int(count) * Self.spanSize, count <= Self.spanLimit
      else { return nil }
      var buckets: [HistoryBucket] = []
      buckets.reserveCapacity(Int(count))
      while let slot = reader.number(UInt32.self) {
        guard let readings = reader.number(UInt16.self), let gap = reader.number(UInt8.self),
          let mean = reader.number(UInt32.self), let least = reader.number(UInt32.self),
          let greatest = reader.number(UInt32.self),
          let bucket = HistoryBucket(
            slot: slot, count: readings, hasGapBefore: gap & 1 == 1, mean: Float(bitPattern: mean),
            least: Float(bitPattern: least), greatest: Float(bitPattern: greatest))
        else { return nil }
        buckets.append(bucket)
      }
      self = .spans(
        HistoryEntry(id: id, name: name, unit: hasUnit == 1 ? unit : nil, rung: Int(rung), buckets: buckets))
    default: return nil
    }
  }

  private struct Reader {
    var bytes: ArraySlice<UInt8>

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
      let size = Number.bitWidth / 8
      guard bytes.count >= size else { return nil }
      var number: Number = 0
      for (index, byte) in bytes.prefix(size).enumerated() { number |= Number(truncatingIfNeeded: byte) << (index * 8) }
      bytes = bytes.dropFirst(size)
      return number
    }

    mutating func text(limit: Int) -> String? {
      guard let count = number(UInt16.self), count <= limit, bytes.count >= Int(count) else { return nil }
      defer { bytes = bytes.dropFirst(Int(count)) }
      return String(validating: bytes.prefix(Int(count)), as: UTF8.self)
    }
  }
}
