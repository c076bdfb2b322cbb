// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// Draws series as a picture for a report: an SVG file with a panel for each series, round ticks, units, and gaps where nothing was
/// read. It follows the viewer's light or dark theme and needs no special font.
package struct HistoryPlot: Sendable {
  private let title: String
  private let series: [ReadingSeries]
  private let time: ClosedRange<Double>
  private let offset: Double
  private let date: @Sendable (Double) -> String
  private let clock: @Sendable (Double) -> String

  private let layout: Layout

  /// The measures of a picture, in its own units.
  private struct Layout {
    var width = 840.0
    var panelHeight = 180.0
    var panelGap = 56.0
    var margin = (left: 72.0, right: 24.0, top: 84.0, bottom: 36.0)
    /// About how many times of day have a label.
    var times = 8

    /// A panel alone, for a page: small enough that its texts can be read on a phone.
    static let panel = Layout(
      width: 480, panelHeight: 150, margin: (left: 48, right: 12, top: 12, bottom: 26), times: 6)
  }

  /// Creates a picture of series in `time`, which is in seconds since 1970. `title`, names and units may come from an accessory.
  /// `offset` is the difference of local time from UTC in seconds; nil for that of this machine. `date` and `clock` return texts
  /// for dates and times of day; by default in local time.
  package init(
    title: String, series: [ReadingSeries], time: ClosedRange<Double>, offset: Double? = nil,
    date: @escaping @Sendable (Double) -> String = { LocalTime.dateText($0) },
    clock: (@Sendable (Double) -> String)? = nil
  ) {
    self.init(title, series, time, Layout(), offset: offset, date: date, clock: clock)
  }

  private init(
    _ title: String, _ series: [ReadingSeries], _ time: ClosedRange<Double>, _ layout: Layout, offset: Double?,
    date: @escaping @Sendable (Double) -> String, clock: (@Sendable (Double) -> String)?
  ) {
    (self.title, self.layout) = (title, layout)
    self.series = series.map { one in
      ReadingSeries(
        name: one.name, unit: one.unit,
        points: one.points.filter { $0.end >= time.lowerBound && $0.time <= time.upperBound })
    }
    self.time = time
    self.offset = offset ?? LocalTime.offset(at: time.upperBound)
    self.date = date
    self.clock = clock ?? { LocalTime.axisText($0, over: time.upperBound - time.lowerBound) }
  }

  /// A series as a picture within a page, which has the title (`TextGraph.title`) and the style: the classes are those of `text`.
  /// `number` selects the colour.
  package static func panel(
    _ one: ReadingSeries, time: ClosedRange<Double>, number: Int, offset: Double? = nil,
    clock: (@Sendable (Double) -> String)? = nil
  ) -> String {
    let plot = HistoryPlot(
      "", [one], time, .panel, offset: offset, date: { LocalTime.dateText($0) }, clock: clock)
    guard let shown = plot.series.first else { return "" }
    let margin = plot.layout.margin
    let height = margin.top + plot.layout.panelHeight + margin.bottom
    let lines =
      [
        "<svg class=\"plot\" viewBox=\"0 0 \(Self.number(plot.layout.width)) \(Self.number(height))\" role=\"img\"\(plot.scales(shown))>",
        "<title>\(XMLText.escape(TextGraph.title(shown)))</title>",
      ] + plot.panel(shown, top: margin.top, colour: number % 4)
    return lines.joined() + "</svg>"
  }

  /// What a script needs to tell the time and the number of a point of the picture.
  private func scales(_ one: ReadingSeries) -> String {
    guard let range = one.range else { return "" }
    let axis = TextGraph.axis(one, range, rows: 11)
    var (digits, step) = (0, (axis.high - axis.low) / 500)
    while step < 1, digits < 4 { (digits, step) = (digits + 1, step * 10) }
    let scales = [
      ("from", "\(Int(time.lowerBound))"), ("to", "\(Int(time.upperBound))"), ("low", DecimalText.short(axis.low)),
      ("high", DecimalText.short(axis.high)), ("digits", "\(digits)"),
      ("unit", XMLText.escape(one.unit ?? "", limit: 16)),
      ("offset", "\(Int(offset))"),
    ]
    return scales.map { " data-\($0)=\"\($1)\"" }.joined()
  }

  /// The contents of the file: valid XML that makes no viewer load or run anything.
  package var text: String {
    let shown = series.filter { $0.range != nil }
    let count = Double(max(1, shown.count))
    let height =
      layout.margin.top + count * layout.panelHeight + (count - 1) * layout.panelGap + layout.margin.bottom
    var lines = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(Self.number(layout.width))\" height=\"\(Self.number(height))\" "
        + "viewBox=\"0 0 \(Self.number(layout.width)) \(Self.number(height))\" role=\"img\">",
      "<title>\(XMLText.escape(title))</title>", Self.style,
      "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>",
      "<text class=\"title\" x=\"\(Self.number(layout.margin.left))\" y=\"26\">\(XMLText.escape(title))</text>",
      "<text class=\"small\" x=\"\(Self.number(layout.margin.left))\" y=\"44\">\(XMLText.escape(date(time.lowerBound))) – "
        + "\(XMLText.escape(date(time.upperBound)))</text>",
    ]
    if shown.isEmpty {
      lines.append(
        "<text class=\"label\" x=\"\(Self.number(layout.margin.left))\" y=\"\(Self.number(layout.margin.top + 40))\">"
          + "Nothing was read in this time.</text>")
    }
    for (index, one) in shown.enumerated() {
      let top = layout.margin.top + Double(index) * (layout.panelHeight + layout.panelGap)
      lines.append(
        "<text class=\"label\" x=\"\(Self.number(layout.margin.left))\" y=\"\(Self.number(top - 8))\">"
          + "\(XMLText.escape(TextGraph.title(one)))</text>")
      lines += panel(one, top: top, colour: index % 4)
    }
    return (lines + ["</svg>", ""]).joined(separator: "\n")
  }

  /// The colours of the series. They exclude ochre and red, the colours of warnings and alarms.
  private static let style = """
    <style>
    text { font-family: system-ui, sans-serif; fill: #1f2328; }
    .title { font-size: 16px; font-weight: 600; }
    .label { font-size: 13px; font-weight: 600; }
    .small { font-size: 11px; fill: #59636e; }
    .paper { fill: #ffffff; }
    .grid { stroke: #d8dee4; stroke-width: 1; }
    .axis { stroke: #8c959f; stroke-width: 1; fill: none; }
    .line { fill: none; stroke-width: 1.75; stroke-linejoin: round; stroke-linecap: round; }
    .band { stroke: none; opacity: 0.22; }
    .line0 { stroke: #1a7f37; } .band0 { fill: #1a7f37; }
    .line1 { stroke: #0969da; } .band1 { fill: #0969da; }
    .line2 { stroke: #bf3989; } .band2 { fill: #bf3989; }
    .line3 { stroke: #8250df; } .band3 { fill: #8250df; }
    @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .small { fill: #9198a1; }
    .paper { fill: #0d1117; }
    .grid { stroke: #2d333b; }
    .axis { stroke: #656c76; }
    .line0 { stroke: #3fb950; } .band0 { fill: #3fb950; }
    .line1 { stroke: #4493f8; } .band1 { fill: #4493f8; }
    .line2 { stroke: #db61a2; } .band2 { fill: #db61a2; }
    .line3 { stroke: #ab7df8; } .band3 { fill: #ab7df8; }
    }
    </style>
    """

  private func panel(_ one: ReadingSeries, top: Double, colour: Int) -> [String] {
    guard let range = one.range else { return [] }
    let axis = TextGraph.axis(one, range, rows: 11)
    let (left, right) = (layout.margin.left, layout.width - layout.margin.right)
    let bottom = top + layout.panelHeight
    let length = time.upperBound - time.lowerBound
    func x(_ moment: Double) -> Double {
      left + (right - left) * min(max((moment - time.lowerBound) / length, 0), 1)
    }
    func y(_ number: Double) -> Double {
      bottom - layout.panelHeight * min(max((number - axis.low) / (axis.high - axis.low), 0), 1)
    }
    var lines: [String] = []
    for tick in axis.ticks {
      let place = Self.number(y(tick))
      lines.append(
        "<line class=\"grid\" x1=\"\(Self.number(left))\" x2=\"\(Self.number(right))\" y1=\"\(place)\" y2=\"\(place)\"/>"
      )
      lines.append(
        "<text class=\"small\" text-anchor=\"end\" x=\"\(Self.number(left - 8))\" y=\"\(Self.number(y(tick) + 4))\">"
          + "\(XMLText.escape(axis.text(tick)))</text>")
    }
    for tick in TimeTicks.of(time, count: layout.times, offset: offset) {
      let place = Self.number(x(tick))
      lines.append(
        "<line class=\"grid\" x1=\"\(place)\" x2=\"\(place)\" y1=\"\(Self.number(top))\" y2=\"\(Self.number(bottom))\"/>"
      )
      lines.append(
        "<text class=\"small\" text-anchor=\"middle\" x=\"\(place)\" y=\"\(Self.number(bottom + 16))\">"
          + "\(XMLText.escape(clock(tick)))</text>")
    }
    lines.append(
      "<path class=\"axis\" d=\"M\(Self.number(left)) \(Self.number(top))V\(Self.number(bottom))H\(Self.number(right))\"/>"
    )
    for piece in Self.pieces(one) {
      lines += draw(piece, colour: colour, x: x, y: y)
    }
    return lines
  }

  /// The runs of points between gaps.
  private static func pieces(_ series: ReadingSeries) -> [ArraySlice<ReadingSeries.Point>] {
    series.points.split { point in
      ![point.mean, point.least, point.greatest].allSatisfy { $0?.isFinite == true } || !point.time.isFinite
        || !point.span.isFinite
    }
  }

  /// Draws a line through the means, and a band from minimum to maximum where they differ.
  private func draw(
    _ points: ArraySlice<ReadingSeries.Point>, colour: Int, x: (Double) -> Double, y: (Double) -> Double
  ) -> [String] {
    guard let first = points.first, let last = points.last else { return [] }
    var path = ""
    var (over, under): ([String], [String]) = ([], [])
    func add(_ moment: Double, _ point: ReadingSeries.Point) {
      let place = Self.number(x(moment))
      path += (path.isEmpty ? "M" : "L") + "\(place) \(Self.number(y(point.mean ?? 0)))"
      over.append("\(place) \(Self.number(y(point.greatest ?? 0)))")
      under.append("\(place) \(Self.number(y(point.least ?? 0)))")
    }
    add(first.time, first)
    for point in points { add(point.time + min(point.span, 300) / 2, point) }
    add(last.end, last)
    var lines: [String] = []
    if points.contains(where: { $0.least != $0.greatest }) {
      lines.append(
        "<path class=\"band band\(colour)\" d=\"M" + (over + under.reversed()).joined(separator: "L") + "Z\"/>")
    }
    lines.append("<path class=\"line line\(colour)\" d=\"\(path)\"/>")
    return lines
  }

  /// A coordinate with one decimal place.
  private static func number(_ value: Double) -> String {
    let tenths = Int((min(max(value, -1e6), 1e6) * 10).rounded())
    let rest = abs(tenths % 10)
    return (tenths < 0 && tenths > -10 ? "-" : "") + "\(tenths / 10)" + (rest == 0 ? "" : ".\(rest)")
  }
}

/// Text in XML.
package enum XMLText {
  /// A text of at most `limit` characters, escaped for XML 1.0. Control characters, which XML doesn't allow, are escaped as for a
  /// terminal.
  package static func escape(_ text: String, limit: Int = 120) -> String {
    var escaped = ""
    for scalar in SafeText.escape(text, limit: limit).unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case "\u{0}"..<" ", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": escaped += "�"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
