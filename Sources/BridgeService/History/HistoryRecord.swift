// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A record of the history file, in a `HistoryFrame`.
enum HistoryRecord: Sendable, Hashable {
  /// The position of the timeline when the following records were written.
  case anchor(HistoryTimeline.Anchor)
  /// Buckets of one series. A bucket replaces the same bucket in earlier records.
  case spans(HistoryEntry)

  /// The first bytes of the file. Another version of the format will have another text.
  static let signature = Array("accessory-bridge history 1\n".utf8)
  /// The most buckets in a record; a complete ring has fewer.
  private static let spanLimit = 512
  private static let bootLimit = 64

  // MARK: - Writing

  /// Appends the record to `bytes`.
  func write(to bytes: inout [UInt8]) {
    var content: [UInt8] = []
    switch self {
    case .anchor(let anchor):
      content.append(1)
      HistoryFrame.add(ReadingLimits.cut(anchor.boot, to: Self.bootLimit), to: &content)
      for number in [anchor.time, anchor.uptime, anchor.wall] { HistoryFrame.add(number.bitPattern, to: &content) }
    case .spans(let entry):
      content.append(3)
      HistoryFrame.add(ReadingLimits.cut(entry.id, to: HistoryLadder.idBytes), to: &content)
      HistoryFrame.add(ReadingLimits.cut(entry.name, to: ReadingLimits.nameBytes), to: &content)
      content.append(entry.unit == nil ? 0 : 1)
      HistoryFrame.add(ReadingLimits.cut(entry.unit ?? "", to: ReadingLimits.unitBytes), to: &content)
      content.append(UInt8(clamping: entry.rung))
      let buckets = entry.buckets.suffix(Self.spanLimit)
      HistoryFrame.add(UInt16(buckets.count), to: &content)
      var slot: UInt32 = 0
      for bucket in buckets {
        let isSingle = bucket.least == bucket.greatest
        content.append((bucket.hasGapBefore ? 1 : 0) | (isSingle ? 2 : 0))
        HistoryFrame.addShort(bucket.slot &- slot, to: &content)
        HistoryFrame.addShort(UInt32(bucket.count), to: &content)
        let numbers = isSingle ? [bucket.mean] : [bucket.mean, bucket.least, bucket.greatest]
        for number in numbers { HistoryFrame.add(number.bitPattern, to: &content) }
        slot = bucket.slot
      }
    }
    HistoryFrame.write(content, to: &bytes)
  }

  // MARK: - Reading

  /// Calls `body` with each valid record of a file in order, and returns the number of bytes outside of valid records; see
  /// `HistoryFrame`.
  static func read(_ file: [UInt8], _ body: (HistoryRecord) -> Void) -> Int {
    HistoryFrame.read(file, after: signature) { content in
      guard let record = HistoryRecord(content) else { return false }
      body(record)
      return true
    }
  }

  /// Decodes a record's content; nil if it isn't valid.
  private init?(_ content: ArraySlice<UInt8>) {
    var reader = HistoryFrame.Reader(content)
    switch reader.number(UInt8.self) {
    case 1:
      guard let boot = reader.text(limit: Self.bootLimit), let time = reader.number(UInt64.self),
        let uptime = reader.number(UInt64.self), let wall = reader.number(UInt64.self), reader.count == 0
      else { return nil }
      let anchor = HistoryTimeline.Anchor(
        boot: boot, time: Double(bitPattern: time), uptime: Double(bitPattern: uptime), wall: Double(bitPattern: wall))
      guard anchor.isValid else { return nil }
      self = .anchor(anchor)
    case let kind? where kind == 2 || kind == 3:
      guard let id = reader.text(limit: HistoryLadder.idBytes), !id.isEmpty,
        let name = reader.text(limit: ReadingLimits.nameBytes), let hasUnit = reader.number(UInt8.self), hasUnit <= 1,
        let unit = reader.text(limit: ReadingLimits.unitBytes), let rung = reader.number(UInt8.self),
        Int(rung) < HistoryLadder.widths.count, let count = reader.number(UInt16.self),
        count <= Self.spanLimit
      else { return nil }
      var buckets: [HistoryBucket] = []
      buckets.reserveCapacity(Int(count))
      for _ in 0..<count {
        guard let bucket = kind == 2 ? Self.plainBucket(&reader) : Self.bucket(&reader, after: buckets.last?.slot ?? 0)
        else { return nil }
        buckets.append(bucket)
      }
      guard reader.count == 0 else { return nil }
      self = .spans(
        HistoryEntry(id: id, name: name, unit: hasUnit == 1 ? unit : nil, rung: Int(rung), buckets: buckets))
    default: return nil
    }
  }
  private static func bucket(_ reader: inout HistoryFrame.Reader, after slot: UInt32) -> HistoryBucket? {
    guard let flags = reader.number(UInt8.self), let step = reader.short(),
      let count = reader.short().flatMap(UInt16.init(exactly:)), let mean = reader.float()
    else { return nil }
    var (least, greatest) = (mean, mean)
    if flags & 2 == 0 {
      guard let low = reader.float(), let high = reader.float() else { return nil }
      (least, greatest) = (low, high)
    }
    return HistoryBucket(
      slot: slot &+ step, count: count, hasGapBefore: flags & 1 == 1, mean: mean, least: least, greatest: greatest)
  }

  /// A bucket as versions up to 0.2 wrote it.
  private static func plainBucket(_ reader: inout HistoryFrame.Reader) -> HistoryBucket? {
    guard let slot = reader.number(UInt32.self), let count = reader.number(UInt16.self),
      let gap = reader.number(UInt8.self), let mean = reader.float(), let least = reader.float(),
      let greatest = reader.float()
    else { return nil }
    return HistoryBucket(
      slot: slot, count: count, hasGapBefore: gap & 1 == 1, mean: mean, least: least, greatest: greatest)
  }
}
