// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Records as earlier versions wrote them. They are only read.
enum OldHistoryRecord {
  /// The first bytes of the file of the last day: anchors, and spans of one series each.
  static let recentSignature = Array("accessory-bridge history 1\n".utf8)
  /// The first bytes of the files of days and months. Heads and names are as today; blocks differ.
  static let longSignature = Array("accessory-bridge long history 1\n".utf8)
  /// The most buckets in a record.
  private static let spanLimit = 512

  /// Calls `onAnchor` and `body` with the records of the last day's file in order. Returns the number of bytes outside of valid records.
  static func read(
    _ bytes: [UInt8], onAnchor: (HistoryTimeline.Anchor) -> Void, _ body: (HistoryBlock) -> Void
  ) -> Int {
    HistoryFrame.read(bytes, after: recentSignature) { content in
      var reader = HistoryFrame.Reader(content)
      if content.first == 1 {
        _ = reader.number(UInt8.self)
        guard let anchor = HistoryRecord.anchor(&reader), reader.count == 0 else { return false }
        onAnchor(anchor)
      } else {
        guard let spans = spans(&reader) else { return false }
        body(spans)
      }
      return true
    }
  }

  /// The buckets of one series in the last day's file.
  private static func spans(_ reader: inout HistoryFrame.Reader) -> HistoryBlock? {
    guard let kind = reader.number(UInt8.self), kind == 2 || kind == 3,
      let id = reader.text(limit: HistoryLimits.idBytes), !id.isEmpty, let series = HistoryRecord.series(&reader),
      let rung = reader.number(UInt8.self), Int(rung) < HistoryTier.recent.count,
      let count = reader.number(UInt16.self), count <= spanLimit
    else { return nil }
    var buckets: [HistoryBucket] = []
    for _ in 0..<count {
      guard let bucket = kind == 2 ? plainBucket(&reader) : bucket(&reader, after: buckets.last?.slot ?? 0) else {
        return nil
      }
      buckets.append(bucket)
    }
    guard reader.count == 0 else { return nil }
    return HistoryBlock(
      id: id, tier: HistoryTier.recent[Int(rung)], start: buckets.first?.slot ?? 0,
      series: [HistoryBlock.Series(name: series.name, unit: series.unit, buckets: buckets)])
  }

  private static func bucket(_ reader: inout HistoryFrame.Reader, after slot: UInt32) -> HistoryBucket? {
    guard let flags = reader.number(UInt8.self), let step = reader.short(),
      let count = reader.short().flatMap(UInt16.init(exactly:))
    else { return nil }
    return HistoryRecord.numbers(
      &reader, slot &+ step, count: count, hasGapBefore: flags & 1 != 0, isSingle: flags & 2 != 0)
  }

  /// A bucket as versions up to 0.2 wrote it.
  private static func plainBucket(_ reader: inout HistoryFrame.Reader) -> HistoryBucket? {
    guard let slot = reader.number(UInt32.self), let count = reader.number(UInt16.self),
      let gap = reader.number(UInt8.self)
    else { return nil }
    return HistoryRecord.numbers(&reader, slot, count: count, hasGapBefore: gap & 1 == 1, isSingle: false)
  }

  /// The beginning of a block of days or months: an hour or a day.
  static func head(of reader: inout HistoryFrame.Reader, in part: HistoryPart) -> HistoryRecord.BlockHead? {
    guard let tier = part.tiers.first, reader.number(UInt8.self) == 3, let key = reader.number(UInt32.self),
      let slot = reader.number(UInt32.self)
    else { return nil }
    let (start, isTooGreat) = slot.multipliedReportingOverflow(by: UInt32(tier.capacity))
    return isTooGreat ? nil : HistoryRecord.BlockHead(key: key, tier: tier, start: start, isOld: true)
  }

  /// The buckets of a series in such a block. Three bytes say which there are, which follow a gap, and which have one number.
  static func buckets(_ reader: inout HistoryFrame.Reader, _ head: HistoryRecord.BlockHead) -> [HistoryBucket]? {
    guard let present = reader.number(UInt8.self), let gaps = reader.number(UInt8.self),
      let single = reader.number(UInt8.self), Int(present) < 1 << head.tier.capacity
    else { return nil }
    var buckets: [HistoryBucket] = []
    for place in 0..<UInt8(head.tier.capacity) where present & (1 << place) != 0 {
      let bucket = HistoryRecord.numbers(
        &reader, head.start + UInt32(place), count: 1, hasGapBefore: gaps & (1 << place) != 0,
        isSingle: single & (1 << place) != 0)
      guard let bucket else { return nil }
      buckets.append(bucket)
    }
    return buckets
  }
}
