// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A record of a long history's file, in a `HistoryFrame`.
enum LongRecord: Sendable, Hashable {
  /// The first record of a file: its tier, and its number in the ring. The file with the greatest number is the newest.
  case head(tier: UInt8, sequence: UInt32)
  /// The names that blocks with this key have: the accessory and its series. It is repeated, so that one damaged record costs little.
  case names(Names)
  /// A block. Its series have indices of the names.
  case block(Block)

  struct Names: Sendable, Hashable {
    var key: UInt32
    var id: String
    var series: [Series]

    struct Series: Sendable, Hashable {
      var name: String
      var unit: String?
    }
  }

  struct Block: Sendable, Hashable {
    var key: UInt32
    var slot: UInt32
    var series: [(index: UInt8, buckets: [HistoryBucket])]
    var energy: Energy

    static func == (one: Block, other: Block) -> Bool {
      one.key == other.key && one.slot == other.slot && one.energy == other.energy
        && one.series.elementsEqual(other.series) { $0.index == $1.index && $0.buckets == $1.buckets }
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(key)
      hasher.combine(slot)
    }
  }

  /// The first bytes of each file. Another version of the format will have another text.
  static let signature = Array("accessory-bridge long history 1\n".utf8)

  // MARK: - Writing

  /// Appends the record to `bytes`.
  func write(to bytes: inout [UInt8], _ tier: LongTier) {
    var content: [UInt8] = []
    switch self {
    case .head(let tier, let sequence):
      content += [1, tier]
      HistoryFrame.add(sequence, to: &content)
    case .names(let names):
      content.append(2)
      HistoryFrame.add(names.key, to: &content)
      HistoryFrame.add(ReadingLimits.cut(names.id, to: HistoryLadder.idBytes), to: &content)
      content.append(UInt8(clamping: names.series.count))
      for series in names.series.prefix(255) {
        HistoryFrame.add(ReadingLimits.cut(series.name, to: ReadingLimits.nameBytes), to: &content)
        content.append(series.unit == nil ? 0 : 1)
        HistoryFrame.add(ReadingLimits.cut(series.unit ?? "", to: ReadingLimits.unitBytes), to: &content)
      }
    case .block(let block):
      content.append(3)
      HistoryFrame.add(block.key, to: &content)
      HistoryFrame.add(block.slot, to: &content)
      Self.write(block.energy, tier, block.slot, to: &content)
      content.append(UInt8(clamping: block.series.count))
      for series in block.series.prefix(255) {
        content.append(series.index)
        Self.write(series.buckets, tier, block.slot, to: &content)
      }
    }
    HistoryFrame.write(content, to: &bytes)
  }

  private static func write(_ energy: Energy, _ tier: LongTier, _ slot: UInt32, to content: inout [UInt8]) {
    let first = Int(slot) * tier.hourCount
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

  /// Writes which points there are (a bit each), which follow a gap, which have one number only, and the numbers.
  private static func write(_ buckets: [HistoryBucket], _ tier: LongTier, _ slot: UInt32, to content: inout [UInt8]) {
    let first = Int(slot) * tier.pointCount
    var (present, gaps, single): (UInt8, UInt8, UInt8) = (0, 0, 0)
    var numbers: [UInt8] = []
    for index in 0..<tier.pointCount {
      guard let bucket = buckets.first(where: { Int($0.slot) == first + index }) else { continue }
      let bit = UInt8(1) << UInt8(index)
      present |= bit
      if bucket.hasGapBefore { gaps |= bit }
      if bucket.least == bucket.greatest { single |= bit }
      let kept = bucket.least == bucket.greatest ? [bucket.mean] : [bucket.mean, bucket.least, bucket.greatest]
      for number in kept { HistoryFrame.add(number.bitPattern, to: &numbers) }
    }
    content += [present, gaps, single] + numbers
  }

  // MARK: - Reading

  /// Decodes a record's content; nil if it isn't valid.
  init?(_ content: ArraySlice<UInt8>, _ tier: LongTier) {
    var reader = HistoryFrame.Reader(content)
    switch reader.number(UInt8.self) {
    case 1:
      guard let number = reader.number(UInt8.self), let sequence = reader.number(UInt32.self) else { return nil }
      self = .head(tier: number, sequence: sequence)
    case 2:
      guard let names = Self.names(&reader) else { return nil }
      self = .names(names)
    case 3:
      guard let block = Self.block(&reader, tier) else { return nil }
      self = .block(block)
    default: return nil
    }
    if reader.count > 0 { return nil }
  }

  /// The key and the slot of a block, without decoding the rest; nil for other records.
  static func head(ofBlock content: ArraySlice<UInt8>) -> (key: UInt32, slot: UInt32)? {
    var reader = HistoryFrame.Reader(content)
    guard reader.number(UInt8.self) == 3, let key = reader.number(UInt32.self), let slot = reader.number(UInt32.self)
    else { return nil }
    return (key, slot)
  }

  private static func names(_ reader: inout HistoryFrame.Reader) -> Names? {
    guard let key = reader.number(UInt32.self), let id = reader.text(limit: HistoryLadder.idBytes), !id.isEmpty,
      let count = reader.number(UInt8.self), count <= LongTier.seriesLimit
    else { return nil }
    var series: [Names.Series] = []
    for _ in 0..<count {
      guard let name = reader.text(limit: ReadingLimits.nameBytes), let hasUnit = reader.number(UInt8.self),
        hasUnit <= 1, let unit = reader.text(limit: ReadingLimits.unitBytes)
      else { return nil }
      series.append(Names.Series(name: name, unit: hasUnit == 1 ? unit : nil))
    }
    return Names(key: key, id: id, series: series)
  }

  private static func block(_ reader: inout HistoryFrame.Reader, _ tier: LongTier) -> Block? {
    guard let key = reader.number(UInt32.self), let slot = reader.number(UInt32.self),
      Int(slot) < Int(UInt32.max) / tier.blockSeconds, let energy = energy(&reader, tier, slot),
      let count = reader.number(UInt8.self), count <= LongTier.seriesLimit
    else { return nil }
    var block = Block(key: key, slot: slot, series: [], energy: energy)
    block.series.reserveCapacity(Int(count))
    for _ in 0..<count {
      guard let index = reader.number(UInt8.self), let buckets = buckets(&reader, tier, slot) else { return nil }
      block.series.append((index, buckets))
    }
    return block
  }

  private static func energy(_ reader: inout HistoryFrame.Reader, _ tier: LongTier, _ slot: UInt32) -> Energy? {
    guard let count = reader.number(UInt8.self), Int(count) <= tier.hourCount else { return nil }
    var energy = Energy()
    for _ in 0..<count {
      guard let index = reader.number(UInt8.self), Int(index) < tier.hourCount, let given = reader.float(),
        let taken = reader.float(), let seconds = reader.number(UInt16.self), given.isFinite, taken.isFinite,
        given >= 0, taken >= 0, seconds <= 3_600
      else { return nil }
      energy.hours[Int(slot) * tier.hourCount + Int(index)] = Energy.Amount(
        inWattHours: given.asShortDouble, outWattHours: taken.asShortDouble, seconds: Double(seconds))
    }
    return energy
  }

  private static func buckets(
    _ reader: inout HistoryFrame.Reader, _ tier: LongTier, _ slot: UInt32
  ) -> [HistoryBucket]? {
    guard let present = reader.number(UInt8.self), let gaps = reader.number(UInt8.self),
      let single = reader.number(UInt8.self), Int(present) < 1 << tier.pointCount
    else { return nil }
    var buckets: [HistoryBucket] = []
    buckets.reserveCapacity(present.nonzeroBitCount)
    for index in 0..<tier.pointCount where present & (1 << UInt8(index)) != 0 {
      guard let mean = reader.float() else { return nil }
      var (least, greatest) = (mean, mean)
      if single & (1 << UInt8(index)) == 0 {
        guard let low = reader.float(), let high = reader.float() else { return nil }
        (least, greatest) = (low, high)
      }
      guard
        let bucket = HistoryBucket(
          slot: slot * UInt32(tier.pointCount) + UInt32(index), count: 1,
          hasGapBefore: gaps & (1 << UInt8(index)) != 0, mean: mean, least: least, greatest: greatest)
      else { return nil }
      buckets.append(bucket)
    }
    return buckets
  }
}
