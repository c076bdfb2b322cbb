// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput
import Console

/// What the list shows of an accessory's last 24 hours: a small graph, and the energy since midnight.
package struct DayOverview: Sendable {
  /// When it was asked for.
  var time: MonotonicTime
  /// The graph's series; nil if nothing was read.
  var series: ReadingSeries?
  /// The energy since midnight, local time; nil if no power is known.
  var today: Energy.Amount?

  /// How far back the graph reaches, and the time of one of its points, both in seconds.
  package static let reach = 86_400.0
  static let step = 1_800.0
  /// The shortest history that is drawn, in seconds.
  private static let least = 3_600.0

  init(_ series: [ReadingSeries], _ energy: Energy?, name: String?, time: MonotonicTime, now: Double) {
    self.time = time
    self.series = series.first { $0.name == name && $0.range != nil }
    let amounts = energy?.amounts { LocalTime.day($0) }
    today = amounts?[LocalTime.day(now)].flatMap { $0.seconds > 0 ? $0 : nil }
  }

  /// The name of the series that is drawn: the charge, or else the first number that matters; nil if there is none.
  static func seriesName(of row: TopRow) -> String? {
    if row.battery?.percent != nil { return ReadingSeries.percent }
    let values = WebState.seriesNames(of: row).dropFirst(ReadingSeries.batteryNames.count)
    return values.first ?? (row.battery?.millivolts == nil ? nil : ReadingSeries.voltage)
  }

  /// The graph as a picture; empty without a reading. `now` is in seconds since 1970.
  func picture(now: Double) -> String {
    guard let series, let range = series.range else { return "" }
    let start = now - Self.reach
    // A few minutes would be a dot.
    guard let first = series.points.first(where: { $0.mean != nil && $0.end > start }), now - first.time >= Self.least
    else {
      return ""
    }
    // A charge is drawn from empty to full, other readings from the least to the greatest.
    let isCharge = series.name == ReadingSeries.percent
    let (low, high) = isCharge ? (0, 100) : (range.lowerBound, range.upperBound)
    var path = ""
    var isOpen = false
    for point in series.points where point.end > start {
      guard let mean = point.mean, mean.isFinite, point.time.isFinite, point.span.isFinite else {
        isOpen = false
        continue
      }
      let part = (mean - low) / (high - low)
      let y = high > low && part.isFinite ? 23 - 22 * min(max(part, 0), 1) : 12
      func add(_ time: Double) {
        let x = 100 * min(max((time - start) / Self.reach, 0), 1)
        path += (isOpen ? "L" : "M") + Self.number(x) + " " + Self.number(y)
        isOpen = true
      }
      if !isOpen { add(point.time) }
      add(min(point.end, now))
    }
    if path.isEmpty { return "" }
    let title = "24 hours: " + TextGraph.title(series)
    return
      "<svg class=\"spark\" viewBox=\"0 0 100 24\" preserveAspectRatio=\"none\" role=\"img\"><title>\(HTML.text(title))</title>"
      + "<path d=\"\(path)\"/></svg>"
  }

  private static func number(_ value: Double) -> String { DecimalText.short((value * 10).rounded() / 10) }
}
