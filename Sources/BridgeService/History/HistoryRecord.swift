// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A record of the history's files, in a `HistoryFrame`. All files have the same records.
enum HistoryRecord: Sendable, Hashable {
  /// The first record of a file: its part, and its number in the ring. The file with the greatest number is the newest.
  case head(part: UInt8, sequence: UInt32)
  /// The position of the timeline when the following records were written.
  case anchor(HistoryTimeline.Anchor)
  /// The names that blocks with this key have: the accessory and its series. It is repeated, so that one damaged record costs little.
  case names(Names)

  struct Names: Sendable, Hashable {
    var key: UInt32
    var id: String
    var series: [Series]

    struct Series: Sendable, Hashable {
      var name: String
      var unit: String?
    }
  }

  /// The first bytes of each file. Another version of the format will have another text.
  static let signature = Array("accessory-bridge history 2\n".utf8)
  private static let bootLimit = 64
  /// The kind of a block's record.
  private static let blockKind: UInt8 = 4

  // MARK: - Writing

  /// Appends the record to `bytes`.
  func write(to bytes: inout [UInt8]) {
    var content: [UInt8] = []
    switch self {
    case .head(let part, let sequence):
      content += [1, part]
      HistoryFrame.add(sequence, to: &content)
    case .names(let names):
      content.append(2)
      HistoryFrame.add(names.key, to: &content)
      HistoryFrame.add(ReadingLimits.cut(names.id, to: HistoryLimits.idBytes), to: &content)
      content.append(UInt8(clamping: names.series.count))
      for series in names.series.prefix(255) {
        HistoryFrame.add(ReadingLimits.cut(series.name, to: ReadingLimits.nameBytes), to: &content)
        content.append(series.unit == nil ? 0 : 1)
        HistoryFrame.add(ReadingLimits.cut(series.unit ?? "", to: ReadingLimits.unitBytes), to: &content)
      }
    case .anchor(let anchor):
      content.append(5)
      HistoryFrame.add(ReadingLimits.cut(anchor.boot, to: Self.bootLimit), to: &content)
      for number in [anchor.time, anchor.uptime, anchor.wall] { HistoryFrame.add(number.bitPattern, to: &content) }
    }
    HistoryFrame.write(content, to: &bytes)
  }

  // MARK: - Reading

  /// Decodes a record's content; nil if it isn't valid, or a block.
  init?(_ content: ArraySlice<UInt8>) {
    var reader = HistoryFrame.Reader(content)
    switch reader.number(UInt8.self) {
    case 1:
      guard let part = reader.number(UInt8.self), let sequence = reader.number(UInt32.self) else { return nil }
      self = .head(part: part, sequence: sequence)
    case 2:
      guard let names = Self.names(&reader) else { return nil }
      self = .names(names)
    case 5:
      guard let anchor = Self.anchor(&reader) else { return nil }
      self = .anchor(anchor)
    default: return nil
    }
    if reader.count > 0 { return nil }
  }

  private static func names(_ reader: inout HistoryFrame.Reader) -> Names? {
    guard let key = reader.number(UInt32.self), let id = reader.text(limit: HistoryLimits.idBytes), !id.isEmpty,
      let count = reader.number(UInt8.self), count <= HistoryLimits.seriesLimit
    else { return nil }
    var names = Names(key: key, id: id, series: [])
    for _ in 0..<count {
      guard let series = series(&reader) else { return nil }
      names.series.append(series)
    }
    return names
  }

  /// A name with its unit.
  static func series(_ reader: inout HistoryFrame.Reader) -> Names.Series? {
    guard let name = reader.text(limit: ReadingLimits.nameBytes), let hasUnit = reader.number(UInt8.self), hasUnit <= 1,
      let unit = reader.text(limit: ReadingLimits.unitBytes)
    else { return nil }
    return Names.Series(name: name, unit: hasUnit == 1 ? unit : nil)
  }

  static func anchor(_ reader: inout HistoryFrame.Reader) -> HistoryTimeline.Anchor? {
    guard let boot = reader.text(limit: bootLimit), let time = reader.number(UInt64.self),
      let uptime = reader.number(UInt64.self), let wall = reader.number(UInt64.self)
    else { return nil }
    let anchor = HistoryTimeline.Anchor(
      boot: boot, time: Double(bitPattern: time), uptime: Double(bitPattern: uptime), wall: Double(bitPattern: wall))
    return anchor.isValid ? anchor : nil
  }
}

// MARK: - Blocks

extension HistoryRecord {
  /// What a block's record begins with.
  struct BlockHead: Sendable, Hashable {
    var key: UInt32
    var tier: HistoryTier
    var start: UInt32
    /// Whether an older version wrote it.
    var isOld = false
    /// The number of the hour or the day since 1970, for blocks of days and months.
    var slot: UInt32 { start / UInt32(tier.capacity) }
  }

  /// What a bucket of a block has, besides its numbers: a gap before it; one number, because all readings were equal; the slot after
  /// the one before; one reading.
  private static let (gap, single, next, alone): (UInt8, UInt8, UInt8, UInt8) = (1, 2, 4, 8)

  /// Appends a block to `bytes`, with the names that include its own.
  static func write(_ block: HistoryBlock, _ names: Names, to bytes: inout [UInt8]) {
    let indices = Dictionary(names.series.enumerated().map { ($1.name, UInt8(clamping: $0)) }) { first, _ in first }
    let series = block.series.compactMap { one in indices[one.name].map { (index: $0, buckets: one.buckets) } }
    var content = [blockKind, block.tier.number]
    HistoryFrame.add(names.key, to: &content)
    HistoryFrame.add(block.start, to: &content)
    write(block.energy, block.tier, Int(block.slot) * block.tier.hourCount, to: &content)
    content.append(UInt8(clamping: series.count))
    for one in series.prefix(255) {
      content.append(one.index)
      HistoryFrame.addShort(UInt32(one.buckets.count), to: &content)
      var expected = block.start
      for bucket in one.buckets {
        write(bucket, expected, to: &content)
        expected = bucket.slot &+ 1
      }
    }
    HistoryFrame.write(content, to: &bytes)
  }

  private static func write(_ bucket: HistoryBucket, _ expected: UInt32, to content: inout [UInt8]) {
    let isSingle = bucket.least == bucket.greatest
    content.append(
      (bucket.hasGapBefore ? gap : 0) | (isSingle ? single : 0) | (bucket.slot == expected ? next : 0)
        | (bucket.count == 1 ? alone : 0))
    if bucket.slot != expected { HistoryFrame.addShort(bucket.slot &- expected, to: &content) }
    if bucket.count != 1 { HistoryFrame.addShort(UInt32(bucket.count), to: &content) }
    let numbers = isSingle ? [bucket.mean] : [bucket.mean, bucket.least, bucket.greatest]
    for number in numbers { HistoryFrame.add(number.bitPattern, to: &content) }
  }

  private static func write(_ energy: Energy, _ tier: HistoryTier, _ first: Int, to content: inout [UInt8]) {
    let hours = (0..<tier.hourCount).compactMap { index in energy.hours[first + index].map { (index, $0) } }
    content.append(UInt8(clamping: hours.count))
    for (index, amount) in hours {
      content.append(UInt8(clamping: index))
      for number in [amount.inWattHours, amount.outWattHours] {
        HistoryFrame.add(Float(number).bitPattern, to: &content)
      }
      HistoryFrame.add(UInt16(clamping: Int(amount.seconds.rounded())), to: &content)
    }
  }

  /// Decodes the beginning of a block's record in `part`; nil for other records. `reader` then stands behind it.
  static func head(of reader: inout HistoryFrame.Reader, in part: HistoryPart) -> BlockHead? {
    guard reader.number(UInt8.self) == blockKind, let number = reader.number(UInt8.self),
      let tier = part.tiers.first(where: { $0.number == number }), let key = reader.number(UInt32.self),
      let start = reader.number(UInt32.self)
    else { return nil }
    return BlockHead(key: key, tier: tier, start: start)
  }

  /// Decodes the rest of a block; nil if it isn't valid.
  static func block(_ head: BlockHead, _ names: Names, _ reader: inout HistoryFrame.Reader) -> HistoryBlock? {
    // The times of days and months are seconds in 32 bits.
    guard !head.tier.isLong || Int(head.slot) < Int(UInt32.max) / head.tier.blockSeconds,
      let energy = energy(&reader, head), let count = reader.number(UInt8.self), count <= HistoryLimits.seriesLimit
    else { return nil }
    var block = HistoryBlock(id: names.id, tier: head.tier, start: head.start, series: [], energy: energy)
    for _ in 0..<count {
      guard let index = reader.number(UInt8.self),
        let buckets = head.isOld ? OldHistoryRecord.buckets(&reader, head) : buckets(&reader, head)
      else { return nil }
      guard Int(index) < names.series.count else { continue }
      let known = names.series[Int(index)]
      block.series.append(HistoryBlock.Series(name: known.name, unit: known.unit, buckets: buckets))
    }
    return reader.count == 0 ? block : nil
  }

  private static func buckets(_ reader: inout HistoryFrame.Reader, _ head: BlockHead) -> [HistoryBucket]? {
    guard let count = reader.short(), count <= head.tier.capacity else { return nil }
    var buckets: [HistoryBucket] = []
    buckets.reserveCapacity(Int(count))
    var expected = head.start
    for _ in 0..<count {
      guard let bucket = bucket(&reader, expected),
        !head.tier.isLong || bucket.slot / UInt32(head.tier.capacity) == head.slot
      else { return nil }
      buckets.append(bucket)
      expected = bucket.slot &+ 1
    }
    return buckets
  }

  private static func bucket(_ reader: inout HistoryFrame.Reader, _ expected: UInt32) -> HistoryBucket? {
    guard let flags = reader.number(UInt8.self), let step = flags & next != 0 ? 0 : reader.short(),
      let count = flags & alone != 0 ? 1 : reader.short().flatMap(UInt16.init(exactly:))
    else { return nil }
    let (slot, isTooGreat) = expected.addingReportingOverflow(step)
    guard !isTooGreat else { return nil }
    return numbers(&reader, slot, count: count, hasGapBefore: flags & gap != 0, isSingle: flags & single != 0)
  }

  /// A bucket with the numbers that follow: the mean, and unless they are equal the least and the greatest.
  static func numbers(
    _ reader: inout HistoryFrame.Reader, _ slot: UInt32, count: UInt16, hasGapBefore: Bool, isSingle: Bool
  ) -> HistoryBucket? {
    guard let mean = reader.float() else { return nil }
    var (least, greatest) = (mean, mean)
    if !isSingle {
      guard let low = reader.float(), let high = reader.float() else { return nil }
      (least, greatest) = (low, high)
    }
    return HistoryBucket(
      slot: slot, count: count, hasGapBefore: hasGapBefore, mean: mean, least: least, greatest: greatest)
  }

  private static func energy(_ reader: inout HistoryFrame.Reader, _ head: BlockHead) -> Energy? {
    guard let count = reader.number(UInt8.self), Int(count) <= head.tier.hourCount else { return nil }
    var energy = Energy()
    for _ in 0..<count {
      guard let index = reader.number(UInt8.self), Int(index) < head.tier.hourCount, let given = reader.float(),
        let taken = reader.float(), let seconds = reader.number(UInt16.self), given.isFinite, taken.isFinite,
        given >= 0, taken >= 0, seconds <= 3_600
      else { return nil }
      energy.hours[Int(head.slot) * head.tier.hourCount + Int(index)] = Energy.Amount(
        inWattHours: given.asShortDouble, outWattHours: taken.asShortDouble, seconds: Double(seconds))
    }
    return energy
  }
}
