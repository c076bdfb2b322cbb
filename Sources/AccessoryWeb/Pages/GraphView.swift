// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// The graphs of an accessory's readings, and the ranges to choose from.
struct GraphView: Sendable {
  /// The chosen range and end, from the page's address.
  struct Choice: Sendable, Hashable {
    /// The name of a range; nil for the default one.
    var range: String?
    /// The end of the graphs, in seconds since 1970; nil for now.
    var end: Double?

    /// Reads `range=1h&until=1700000000`. Invalid parts are ignored.
    init(query: String = "") {
      for field in query.split(separator: "&").prefix(8) {
        let parts = field.split(separator: "=", maxSplits: 1)
        guard parts.count == 2 else { continue }
        switch parts[0] {
        case "range": range = GraphView.ranges.first { $0.name == parts[1] }?.name
        case "until": end = Int64(parts[1]).flatMap { (0...100_000_000_000).contains($0) ? Double($0) : nil }
        default: break
        }
      }
    }

    /// The choice as a query, with its question mark; empty for the default one.
    var query: String {
      let fields = [range.map { "range=\($0)" }, end.map { "until=\(Int64($0))" }].compactMap { $0 }
      return fields.isEmpty ? "" : "?" + fields.joined(separator: "&")
    }
  }

  /// The ranges, in seconds. Ranges far beyond the kept history aren't offered.
  static let ranges: [(name: String, label: String, length: Double)] = [
    ("10min", "10 min", 600), ("1h", "1 h", 3_600), ("6h", "6 h", 21_600), ("24h", "24 h", 86_400),
    ("7d", "7 days", 604_800),
    ("30d", "30 days", 2_592_000),
  ]

  let series: [ReadingSeries]
  let choice: Choice
  /// The current time in seconds since 1970.
  let now: Double

  /// The contents of the element; empty without a history.
  var html: String {
    let shown = series.filter { $0.range != nil }
    guard let first = shown.compactMap({ $0.points.first?.time }).min(), first.isFinite, first < now else { return "" }
    let offered = Self.offered(for: now - first)
    let range = offered.first { $0.name == choice.range } ?? Self.usual(among: offered, for: now - first)
    // The graph moves by visible steps, not with every reading.
    let step = range.length / 480
    let end = (min(max(choice.end ?? now, first + range.length / 2), now) / step).rounded(.up) * step
    let time = (end - range.length)...end
    let clock = range.length > 172_800 ? Self.day : nil
    let graphs = shown.enumerated().map { index, one in
      let part = Self.part(of: one, in: time, step: step)
      let picture =
        part.range == nil
        ? "<p class=\"none\">Nothing was read in this time.</p>"
        : HistoryPlot.panel(part, time: time, number: index, clock: clock)
      return "<figure><figcaption>\(HTML.text(TextGraph.title(part)))</figcaption>\(picture)</figure>"
    }
    return "<h2>History</h2>" + navigation(offered, range, time, first) + "<div class=\"graphs\">" + graphs.joined()
      + "</div>"
  }

  /// The ranges that the kept history fills, and the next longer one.
  static func offered(for length: Double) -> [(name: String, label: String, length: Double)] {
    let count = (ranges.firstIndex { $0.length >= length } ?? ranges.count - 1) + 1
    return Array(ranges.prefix(count))
  }

  /// The default range: the longest one up to 24 hours that is half full.
  static func usual(
    among offered: [(name: String, label: String, length: Double)], for length: Double
  ) -> (name: String, label: String, length: Double) {
    offered.last { $0.length <= min(86_400, length * 2) } ?? offered[0]
  }

  /// "03-01", for graphs of several days.
  private static let day: @Sendable (Double) -> String = { String(LocalTime.dateText($0).dropFirst(5).prefix(5)) }

  /// The points within this time. Points finer than `step`, which the graph can't show, are combined, because they would make the
  /// page large. The newest points are the finest.
  private static func part(of series: ReadingSeries, in time: ClosedRange<Double>, step: Double) -> ReadingSeries {
    var part = series
    let points = series.points.filter { $0.end >= time.lowerBound && $0.time <= time.upperBound }
    let fine = points.firstIndex { $0.mean != nil && $0.span < step } ?? points.endIndex
    part.points = Array(points[fine...])
    part.points = ReadingSeries.joined(Array(points[..<fine]), part.folded(to: step).points)
    return part
  }

  private func navigation(
    _ offered: [(name: String, label: String, length: Double)],
    _ range: (name: String, label: String, length: Double), _ time: ClosedRange<Double>, _ first: Double
  ) -> String {
    func link(_ label: String, _ range: String, _ end: Double?, isCurrent: Bool = false) -> String {
      var choice = Choice()
      (choice.range, choice.end) = (range, end)
      return "<a href=\"\(HTML.text(choice.query))\"\(isCurrent ? " aria-current=\"true\"" : "")>\(label)</a>"
    }
    var links = offered.map { link($0.label, $0.name, choice.end, isCurrent: $0.name == range.name) }
    let step = (range.length / 2).rounded()
    if time.lowerBound > first { links.append(link("Earlier", range.name, time.upperBound - step)) }
    if time.upperBound < now {
      let later = time.upperBound + step
      links.append(link("Later", range.name, later >= now ? nil : later))
    }
    return "<nav class=\"ranges\" aria-label=\"Time of the graphs\">" + links.joined(separator: " ")
      + "<span>\(Self.text(time))</span></nav>"
  }

  /// "2026-03-01 14:05 to 15:05", with both days where they differ.
  static func text(_ time: ClosedRange<Double>) -> String {
    let (start, end) = (time.lowerBound, time.upperBound)
    let isOneDay = LocalTime.day(start) == LocalTime.day(end)
    return "\(LocalTime.dateText(start)) to \(isOneDay ? LocalTime.text(end) : LocalTime.dateText(end))"
  }
}
