// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// Draws a series as a graph for a terminal, with axes, units and gaps.
package enum TextGraph {
  /// The lines of a graph: `rows` lines, none longer than `columns`. They are a title with the last, the smallest and the largest
  /// reading; the graph, in which each column reaches from the smallest to the largest reading of its time; and the time axis. `time`
  /// is in seconds since 1970. Empty if there isn't enough room.
  ///
  /// `clock` returns a time of day; nil for local time, with seconds if the graph covers less than ten minutes. `offset` is the
  /// difference of local time from UTC in seconds; nil for that of this machine.
  package static func lines(
    _ series: ReadingSeries, columns: Int, rows: Int, time: ClosedRange<Double>, form: GraphForm = .ofLocale(),
    style: Style = .standardOutput, offset: Double? = nil, clock: ((Double) -> String)? = nil
  ) -> [String] {
    let height = rows - 3
    let clock = clock ?? { LocalTime.axisText($0, over: time.upperBound - time.lowerBound) }
    guard height >= 2, columns >= 20 else { return [] }
    let shown = ReadingSeries(
      name: series.name, unit: series.unit,
      points: series.points.filter { $0.end >= time.lowerBound && $0.time <= time.upperBound })
    let title = TextCut.text(title(shown), columns: columns, isASCII: form == .ascii)
    guard let range = shown.range else {
      let note = "  nothing was read in this time"
      return [style.bold(title), note] + [String](repeating: "", count: rows - 2)
    }
    let axis = axis(shown, range, rows: height)
    let labels = axis.ticks.map { ($0, axis.text($0)) }
    let margin = labels.map { TextWidth.of($0.1) }.max() ?? 0
    let width = columns - margin - 1
    guard width >= 8 else { return [] }
    let cells = form == .unicode ? BrailleCanvas.draw : AsciiCanvas.draw
    let plot = cells(shown, width, height, time, axis)
    var lines = [style.bold(title)]
    for row in 0..<height {
      let label = labels.last { Self.row(of: $0.0, axis, height) == row }?.1
      let text = label ?? ""
      let tick = form == .unicode ? (label == nil ? "│" : "┤") : (label == nil ? "|" : "+")
      lines.append(
        String(repeating: " ", count: margin - TextWidth.of(text)) + style.dim(text + tick)
          + style.green(trimmed(plot[row])))
    }
    let ticks = TimeTicks.of(
      time, count: max(2, width / 10), offset: offset ?? LocalTime.offset(at: time.upperBound))
    lines += times(ticks, time, margin: margin, width: width, form, clock).map { style.dim($0) }
    return lines
  }

  /// "Charge 57 %, from 40 to 80 %", or "Charge 57 %" if it never changed. Text from the accessory is escaped.
  package static func title(_ series: ReadingSeries) -> String {
    let name = ReadingLabel.text(series: series.name)
    let unit = series.unit.map { " " + SafeText.escape($0, limit: 16) } ?? ""
    guard let range = series.range, let last = series.last?.mean else { return name }
    let step = GraphAxis.roundStep(max(range.upperBound - range.lowerBound, abs(last) * 1e-3, 1e-6) / 50)
    var texts = [last, range.lowerBound, range.upperBound].map { GraphAxis.text($0, step: min(step, 1)) }
    // Remove common trailing zeros: whole numbers, such as a charge's, have no decimals; otherwise all three have equally many.
    while texts.allSatisfy({ $0.contains(".") && ($0.hasSuffix("0") || $0.hasSuffix(".")) }) {
      texts = texts.map { String($0.dropLast()) }
    }
    // "Port 4: 50 cm", not "Port 4 50 cm".
    let now = name + (name.last?.isNumber == true ? ": " : " ") + texts[0] + unit
    return Set(texts).count == 1 ? now : "\(now), from \(texts[1]) to \(texts[2])\(unit)"
  }

  /// The axis of the numbers. For a charge in percent it goes from 0 to 100.
  static func axis(_ series: ReadingSeries, _ range: ClosedRange<Double>, rows: Int) -> GraphAxis {
    let isCharge = series.name == ReadingSeries.percent
    let whole = isCharge ? min(range.lowerBound, 0)...max(range.upperBound, 100) : range
    return GraphAxis(whole, ticks: max(2, min(6, (rows + 1) / 2)))
  }

  /// The row of a number; 0 is the top. Each tick gets a row of its own if there is room.
  private static func row(of number: Double, _ axis: GraphAxis, _ height: Int) -> Int {
    let part = (number - axis.low) / (axis.high - axis.low)
    return height - 1 - Int((part * Double(height - 1)).rounded())
  }

  private static func trimmed(_ line: String) -> String {
    var line = line
    while let last = line.last, last == " " || last == "\u{2800}" { line.removeLast() }
    return line
  }

  /// The time axis and its labels.
  private static func times(
    _ ticks: [Double], _ time: ClosedRange<Double>, margin: Int, width: Int, _ form: GraphForm,
    _ clock: (Double) -> String
  ) -> [String] {
    let length = time.upperBound - time.lowerBound
    var line = [Character](repeating: form == .unicode ? "─" : "-", count: width)
    var labels = [Character](repeating: " ", count: margin + 1 + width)
    var end = 0
    for tick in ticks {
      let column = min(width - 1, Int((tick - time.lowerBound) / length * Double(width)))
      line[column] = form == .unicode ? "┬" : "+"
      let text = Array(clock(tick))
      let start = margin + 1 + column - text.count / 2
      guard start >= end, start >= 0, start + text.count <= labels.count else { continue }
      labels.replaceSubrange(start..<start + text.count, with: text)
      end = start + text.count + 1
    }
    return [
      String(repeating: " ", count: margin) + (form == .unicode ? "└" : "+") + String(line), trimmed(String(labels)),
    ]
  }
}

/// A graph of braille patterns, with two by four dots in each cell.
private enum BrailleCanvas {
  /// The bit of the dot in each row, for the left and the right column (Unicode, chapter 21).
  private static let bits: [[UInt32]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]

  static func draw(
    _ series: ReadingSeries, _ width: Int, _ height: Int, _ time: ClosedRange<Double>, _ axis: GraphAxis
  ) -> [String] {
    var cells = [[UInt32]](repeating: [UInt32](repeating: 0, count: width), count: height)
    let columns = GraphColumns.of(series, count: width * 2, time: time)
    for (column, rows) in GraphRows.of(columns, count: height * 4, axis) {
      for row in rows { cells[row / 4][column / 2] |= bits[column % 2][row % 4] }
    }
    return cells.map { row in
      String(String.UnicodeScalarView(row.map { Unicode.Scalar(0x2800 + $0) ?? " " }))
    }
  }
}

/// A graph of ASCII characters.
private enum AsciiCanvas {
  static func draw(
    _ series: ReadingSeries, _ width: Int, _ height: Int, _ time: ClosedRange<Double>, _ axis: GraphAxis
  ) -> [String] {
    var cells = [[Character]](repeating: [Character](repeating: " ", count: width), count: height)
    for (column, rows) in GraphRows.of(GraphColumns.of(series, count: width, time: time), count: height, axis) {
      for row in rows { cells[row][column] = "*" }
    }
    return cells.map { String($0) }
  }
}

/// Computes the rows that each column of a graph fills.
private enum GraphRows {
  /// For each column with readings, the rows from its largest to its smallest value; 0 is the top. Adjacent columns touch.
  static func of(_ columns: [GraphColumn?], count: Int, _ axis: GraphAxis) -> [(column: Int, rows: ClosedRange<Int>)] {
    func row(_ number: Double) -> Int {
      let part = min(max((number - axis.low) / (axis.high - axis.low), 0), 1)
      return count - 1 - Int((part * Double(count - 1)).rounded())
    }
    var filled: [(column: Int, rows: ClosedRange<Int>)] = []
    for (index, column) in columns.enumerated() {
      guard let column else { continue }
      var rows = row(column.greatest)...row(column.least)
      if let before = filled.last, before.column == index - 1 {
        if before.rows.upperBound < rows.lowerBound - 1 { rows = (before.rows.upperBound + 1)...rows.upperBound }
        if before.rows.lowerBound > rows.upperBound + 1 { rows = rows.lowerBound...(before.rows.lowerBound - 1) }
      }
      filled.append((index, rows))
    }
    return filled
  }
}
