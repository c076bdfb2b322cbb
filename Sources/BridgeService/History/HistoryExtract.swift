// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The blocks of one accessory in the days or the months, as series.
struct HistoryExtract: Sendable {
  let tier: HistoryTier
  private(set) var energy = Energy()
  private var known: [HistoryBlock.Series] = []

  init(_ tier: HistoryTier) { self.tier = tier }

  var isEmpty: Bool { known.isEmpty }

  /// Adds a block. It replaces what earlier blocks have of the same time.
  mutating func add(_ block: HistoryBlock) {
    for (hour, amount) in block.energy.hours { energy.hours[hour] = amount }
    for (place, series) in block.series.enumerated() {
      // Most blocks have the same series in the same order.
      let isNext = place < known.count && known[place].name == series.name
      guard let index = isNext ? place : known.firstIndex(where: { $0.name == series.name }) else {
        known.append(series)
        continue
      }
      known[index].unit = series.unit
      known[index].buckets += series.buckets
    }
  }

  /// The series, in the order in which they were first read.
  var series: [ReadingSeries] {
    known.map { ReadingSeries(name: $0.name, unit: $0.unit, points: Self.points($0.buckets, tier)) }
  }

  private static func points(_ buckets: [HistoryBucket], _ tier: HistoryTier) -> [ReadingSeries.Point] {
    var inOrder: [HistoryBucket] = []
    inOrder.reserveCapacity(buckets.count)
    // Sorting is stable, so of the same slot the last one stays.
    for bucket in buckets.sorted(by: { $0.slot < $1.slot }) {
      if inOrder.last?.slot == bucket.slot { inOrder.removeLast() }
      inOrder.append(bucket)
    }
    return HistorySpan.points(inOrder.map { HistorySpan($0, width: Double(tier.pointSeconds)) }[...], offset: 0)
  }
}

/// A copy of an accessory's history: the last day, and with `long` the days and months before. Converting it takes longer than a
/// reading, so that can be done on any thread.
struct HistoryAnswer: Sendable {
  /// The last day; nil if nothing was read.
  let recent: AccessoryHistory?
  /// The offset from the timeline to the wall clock.
  let offset: Double
  /// The time that was asked for, in seconds, and the wall clock when it was asked, in seconds since 1970.
  let seconds, now: Double
  var long: (days: HistoryExtract, months: HistoryExtract)?

  /// The most points of a series, if there are no gaps.
  private static let pointLimit = 2_000.0
  /// The resolutions of an answer, in seconds.
  private static let widths: [Double] = [900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800]

  var isEmpty: Bool { recent == nil && long.map { $0.days.isEmpty && $0.months.isEmpty } ?? true }
  /// The earliest time that was asked for, in seconds since 1970.
  var since: Double { now - seconds }

  /// The series with these names; all if nil. A battery's series can also be named by its published key, such as `voltage_mv`, unless
  /// a value has that name.
  func series(_ names: [String]?) -> [ReadingSeries] {
    let last = last
    guard let long else { return Self.series(names, among: last) }
    let tiers = [long.months.series, long.days.series, last]
    let order = tiers.reversed().joined().reduce(into: [ReadingSeries]()) { order, series in
      if !order.contains(where: { $0.name == series.name }) { order.append(series) }
    }
    let wanted = Self.series(names, among: order)
    let width = width(of: wanted.count)
    return wanted.map { series in
      let points = tiers.reduce(into: [ReadingSeries.Point]()) { points, tier in
        points = ReadingSeries.joined(points, tier.first { $0.name == series.name }?.points ?? [])
      }
      return ReadingSeries(name: series.name, unit: series.unit, points: points).since(since).folded(to: width)
    }
  }

  /// The series of the last day.
  private var last: [ReadingSeries] {
    recent?.readings(since: now - offset - min(seconds, HistoryTier.recentReach), until: now - offset, offset: offset)
      ?? []
  }

  private static func series(_ names: [String]?, among known: [ReadingSeries]) -> [ReadingSeries] {
    guard let names else { return known }
    let all = Set(known.map(\.name))
    let wanted = Set(names.map { all.contains($0) ? $0 : ReadingSeries.name(ofKey: $0) ?? $0 })
    return known.filter { wanted.contains($0.name) }
  }

  /// The resolution at which this many series stay within the limits of a reply.
  private func width(of count: Int) -> Double {
    let most = min(Self.pointLimit, Double(HistoryLimits.pointLimit) / Double(max(1, count)))
    return Self.widths.first { seconds / $0 <= most } ?? Self.widths[Self.widths.count - 1]
  }

  /// The energy of each hour.
  var energy: Energy {
    let last = Energy.count(last)
    return (long.map { $0.days.energy.completed(by: $0.months.energy) } ?? Energy()).completed(by: last).since(since)
  }
}

extension Energy {
  /// Counts the energy of a battery's series.
  static func count(_ series: [ReadingSeries]) -> Energy {
    guard let voltage = series.first(where: { $0.name == ReadingSeries.voltage }),
      let current = series.first(where: { $0.name == ReadingSeries.current })
    else { return Energy() }
    return count(voltage: voltage.points, current: current.points)
  }
}
