// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A copy of an accessory's history. Converting it takes longer than a reading, so that can be done on any thread.
struct HistoryExtract: Sendable {
  let accessory: AccessoryHistory
  /// The earliest time that was asked for.
  let since: Double
  /// The offset from the timeline to the wall clock.
  let offset: Double

  /// The series with these names; all if nil. A battery's series can also be named by its published key, such as `voltage_mv`, unless
  /// a value has that name.
  func series(_ names: [String]?) -> [ReadingSeries] {
    let names = names.map { ReadingSeries.names($0, among: accessory.series.map(\.name)) }
    return accessory.series.filter { names?.contains($0.name) ?? true }.map {
      ReadingSeries(name: $0.name, unit: $0.unit, points: $0.points(since: since, offset: offset))
    }
  }
}

extension ReadingSeries {
  /// These names of series, where a battery's series may be named by its published key.
  fileprivate static func names(_ names: [String], among known: [String]) -> Set<String> {
    let known = Set(known)
    return Set(names.map { known.contains($0) ? $0 : ReadingSeries.name(ofKey: $0) ?? $0 })
  }
}

/// What the service answers about an accessory's history: the last 24 hours, with the days and months before.
struct HistoryAnswer: Sendable {
  var short: HistoryExtract?
  var long: (days: LongExtract, months: LongExtract)?
  /// The earliest time that was asked for, in seconds since 1970.
  var since: Double
  /// The time that was asked for, in seconds.
  var seconds: Double

  /// The most points of a series, if there are no gaps.
  private static let pointLimit = 2_000.0
  /// The resolutions of an answer, in seconds.
  private static let widths: [Double] = [900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800]

  /// The series with these names; all if nil.
  func series(_ names: [String]?) -> [ReadingSeries] {
    guard let long else { return short?.series(names) ?? [] }
    let parts = [long.months.series, long.days.series, short?.series(nil) ?? []].map { series in
      Dictionary(series.map { ($0.name, $0) }) { first, _ in first }
    }
    var order: [String] = []
    for name in [short?.accessory.series.map(\.name) ?? [], long.days.names, long.months.names].joined()
    where !order.contains(name) { order.append(name) }
    if let wanted = names.map({ ReadingSeries.names($0, among: order) }) { order.removeAll { !wanted.contains($0) } }
    let width = width(of: order.count)
    return order.map { name in
      let points = parts.reduce(into: [ReadingSeries.Point]()) { points, part in
        points = ReadingSeries.joined(points, part[name]?.points ?? [])
      }
      let unit = parts.reversed().lazy.compactMap { $0[name] }.first?.unit
      return ReadingSeries(name: name, unit: unit, points: points).since(since).folded(to: width)
    }
  }

  /// The resolution at which this many series stay within the limits of a reply.
  private func width(of count: Int) -> Double {
    let most = min(Self.pointLimit, Double(LongTier.replyPoints) / Double(max(1, count)))
    return Self.widths.first { seconds / $0 <= most } ?? Self.widths[Self.widths.count - 1]
  }

  /// The energy of each hour.
  var energy: Energy {
    let last = Energy.count(short?.series([ReadingSeries.voltage, ReadingSeries.current]) ?? [])
    guard let long else { return last.since(since) }
    return long.days.energy.completed(by: long.months.energy).completed(by: last).since(since)
  }
}
