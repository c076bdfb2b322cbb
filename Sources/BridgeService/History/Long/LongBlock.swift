// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What was read of an accessory in an hour or in a day. Its times are those of the wall clock when it was written.
struct LongBlock: Sendable, Hashable {
  /// A series of the block. The slots of its buckets are the number of the point since 1970.
  struct Series: Sendable, Hashable {
    var name: String
    var unit: String?
    var buckets: [HistoryBucket]
  }

  /// The accessory.
  var id: String
  /// The number of the block since 1970: hours or days.
  var slot: UInt32
  var series: [Series]
  /// The energy in those hours of the block of which the power is known.
  var energy = Energy()

  /// The blocks of these slots, from an accessory's series and its energy. Slots in which nothing was read have none.
  static func blocks(
    _ tier: LongTier, id: String, slots: Range<UInt32>, _ series: [ReadingSeries], _ energy: Energy
  ) -> [LongBlock] {
    let folded = kept(series).map {
      (series: $0, buckets: buckets($0.folded(to: Double(tier.pointSeconds)).points, tier))
    }
    return slots.compactMap { slot in
      let points = Int(slot) * tier.pointCount..<(Int(slot) + 1) * tier.pointCount
      let hours = Int(slot) * tier.hourCount..<(Int(slot) + 1) * tier.hourCount
      let series = folded.compactMap { one in
        let own = one.buckets.filter { points.contains(Int($0.slot)) }
        return own.isEmpty ? nil : Series(name: one.series.name, unit: one.series.unit, buckets: own)
      }
      guard !series.isEmpty else { return nil }
      return LongBlock(
        id: id, slot: slot, series: series, energy: Energy(hours: energy.hours.filter { hours.contains($0.key) }))
    }
  }

  init(id: String, slot: UInt32, series: [Series], energy: Energy = Energy()) {
    (self.id, self.slot, self.series, self.energy) = (id, slot, series, energy)
  }

  private static func kept(_ series: [ReadingSeries]) -> [ReadingSeries] {
    guard series.count > LongTier.seriesLimit else { return series }
    let battery = series.filter { ReadingSeries.batteryNames.contains($0.name) }
    let values = series.filter { !ReadingSeries.batteryNames.contains($0.name) }
    return battery + values.prefix(max(0, LongTier.seriesLimit - battery.count))
  }

  private static func buckets(_ points: [ReadingSeries.Point], _ tier: LongTier) -> [HistoryBucket] {
    var buckets: [HistoryBucket] = []
    var hasGap = false
    for point in points {
      guard let mean = point.mean, let least = point.least, let greatest = point.greatest else {
        hasGap = true
        continue
      }
      defer { hasGap = false }
      guard let slot = UInt32(exactly: (point.time / Double(tier.pointSeconds)).rounded(.down)),
        let bucket = HistoryBucket(slot: slot, mean: mean, least: least, greatest: greatest, hasGapBefore: hasGap)
      else { continue }
      buckets.append(bucket)
    }
    return buckets
  }
}

extension HistoryBucket {
  /// A bucket of a longer time; nil if the numbers can't be valid.
  init?(slot: UInt32, mean: Double, least: Double, greatest: Double, hasGapBefore: Bool) {
    let (least, greatest) = (Float(least), Float(greatest))
    self.init(
      slot: slot, count: 1, hasGapBefore: hasGapBefore, mean: min(max(Float(mean), least), greatest), least: least,
      greatest: greatest)
  }
}
