// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Buckets of an accessory in one tier, as they are written together: what has changed in the last day, or an hour, or a day.
struct HistoryBlock: Sendable, Hashable {
  /// A series of the block, with its buckets in order.
  struct Series: Sendable, Hashable {
    var name: String
    var unit: String?
    var buckets: [HistoryBucket]
  }

  /// The accessory.
  var id: String
  var tier: HistoryTier
  /// The slot from which the buckets are counted.
  var start: UInt32
  var series: [Series]
  /// The energy in those hours of the block of which the power is known.
  var energy = Energy()

  /// The number of the hour or the day since 1970, for blocks of days and months.
  var slot: UInt32 { start / UInt32(tier.capacity) }

  /// The most buckets of a block, so that it fits into a record.
  private static let bucketLimit = 700

  /// Blocks of the last day, each with as many series as fit.
  static func blocks(_ tier: HistoryTier, id: String, _ series: [Series]) -> [HistoryBlock] {
    var blocks: [HistoryBlock] = []
    var count = 0
    for one in series {
      guard let first = one.buckets.first?.slot else { continue }
      if blocks.isEmpty || count + one.buckets.count > bucketLimit {
        blocks.append(HistoryBlock(id: id, tier: tier, start: first, series: []))
        count = 0
      }
      count += one.buckets.count
      let last = blocks.count - 1
      blocks[last].start = min(blocks[last].start, first)
      blocks[last].series.append(one)
    }
    return blocks
  }

  /// The blocks of these hours or days, from an accessory's series and its energy. Times in which nothing was read have none.
  static func blocks(
    _ tier: HistoryTier, id: String, slots: Range<UInt32>, _ series: [ReadingSeries], _ energy: Energy
  ) -> [HistoryBlock] {
    let folded = kept(series).map { (series: $0, buckets: $0.buckets(of: Double(tier.pointSeconds))) }
    return slots.compactMap { slot in
      let points = Int(slot) * tier.capacity..<(Int(slot) + 1) * tier.capacity
      let hours = Int(slot) * tier.hourCount..<(Int(slot) + 1) * tier.hourCount
      let series = folded.compactMap { one in
        let own = one.buckets.filter { points.contains(Int($0.slot)) }
        return own.isEmpty ? nil : Series(name: one.series.name, unit: one.series.unit, buckets: own)
      }
      guard !series.isEmpty, let start = UInt32(exactly: points.lowerBound) else { return nil }
      return HistoryBlock(
        id: id, tier: tier, start: start, series: series,
        energy: Energy(hours: energy.hours.filter { hours.contains($0.key) }))
    }
  }

  private static func kept(_ series: [ReadingSeries]) -> [ReadingSeries] {
    guard series.count > HistoryPart.longSeriesLimit else { return series }
    let battery = series.filter { ReadingSeries.batteryNames.contains($0.name) }
    let values = series.filter { !ReadingSeries.batteryNames.contains($0.name) }
    return battery + values.prefix(max(0, HistoryPart.longSeriesLimit - battery.count))
  }
}

extension ReadingSeries {
  /// The points as buckets of `width` seconds, which are numbered from 1970 on.
  fileprivate func buckets(of width: Double) -> [HistoryBucket] {
    var buckets: [HistoryBucket] = []
    var hasGap = false
    for point in folded(to: width).points {
      guard let mean = point.mean, let least = point.least, let greatest = point.greatest else {
        hasGap = true
        continue
      }
      defer { hasGap = false }
      let (low, high) = (Float(least), Float(greatest))
      guard let slot = UInt32(exactly: (point.time / width).rounded(.down)),
        let bucket = HistoryBucket(
          slot: slot, count: 1, hasGapBefore: hasGap, mean: min(max(Float(mean), low), high), least: low, greatest: high
        )
      else { continue }
      buckets.append(bucket)
    }
    return buckets
  }
}
