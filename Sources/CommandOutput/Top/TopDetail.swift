// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// The view of one accessory in `top`: its state, battery, cells, values and a graph.
extension TopScreen {
  func drawDetail(
    _ model: inout TopModel, _ key: UInt64, on grid: inout CellGrid, _ now: MonotonicTime
  ) -> [Duration] {
    guard let row = model.row(key) else {
      drawLines([["It is no longer there."]], &model, on: &grid, title: model.title)
      return []
    }
    let columns = grid.columns
    var lines: [[StyledText]] = []
    lines += battery(row, columns)
    lines += alarms(row, columns)
    lines += facts(row.readings(now: now), columns)
    lines += cells(row, columns)
    lines += graph(model.graph, columns)
    lines += values(row, columns)
    lines += facts(row.facts, columns)
    drawLines(
      lines, &model, on: &grid, title: row.title + (row.shownState.isEmpty ? "" : "  " + row.shownState),
      CellStyle(row.reach == .attached ? glyphs.style(row.severity).colour : .yellow, bold: true))
    return row.readTime.map { [now - $0] } ?? []
  }

  private func battery(_ row: TopRow, _ columns: Int) -> [[StyledText]] {
    guard let battery = row.battery else { return [] }
    var line: [StyledText] = []
    if let percent = battery.percent {
      let width = min(40, max(5, columns - 54))
      line = [
        StyledText(glyphs.bar(Double(percent) / 100, width: width), glyphs.style(battery)),
        StyledText(" \(percent) % ", .bold),
      ]
    }
    if battery.charge != .unknown {
      line.append(StyledText(glyphs.arrow(battery.charge) + " ", glyphs.style(battery.charge)))
    }
    let words = BatteryView.words(battery, Self.plain).joined(separator: "  ")
    let width = line.reduce(0) { $0 + TextWidth.of($1.text) }
    if width + TextWidth.of(words) <= columns { return [line + [StyledText(words)]] }
    return (line.isEmpty ? [] : [line]) + wrapped(words, columns)
  }

  private static let plain = Style(isTerminal: false, hasColour: false)

  private func wrapped(_ text: String, _ columns: Int) -> [[StyledText]] {
    TextWrap.lines(text, columns: columns, indent: 2).map { [StyledText($0)] }
  }

  private func alarms(_ row: TopRow, _ columns: Int) -> [[StyledText]] {
    row.reasons.sorted { $0.severity > $1.severity }.flatMap { reason -> [[StyledText]] in
      let mark = reason.severity == .alarm ? "!! " : "!  "
      return TextWrap.lines(mark + reason.text, columns: columns, indent: 3).map {
        [StyledText($0, CellStyle(glyphs.style(reason.severity).colour, bold: true))]
      }
    }
  }

  private func facts(_ facts: [(String, String)], _ columns: Int) -> [[StyledText]] {
    let width = facts.map { TextWidth.of($0.0) }.max() ?? 0
    var lines: [[StyledText]] = facts.isEmpty ? [] : [[]]
    for (name, text) in facts {
      let wrapped = TextWrap.lines(text, columns: max(8, columns - width - 2), indent: 0)
      for (index, part) in wrapped.enumerated() {
        let shown = index == 0 ? name : ""
        lines.append([
          StyledText(shown + String(repeating: " ", count: width - TextWidth.of(shown) + 2), .dim), StyledText(part),
        ])
      }
    }
    return lines
  }

  // MARK: - Cells

  /// "Cells  16, 3.300 V to 3.345 V, spread 45 mV", and each cell with a bar between the minimum and the maximum.
  private func cells(_ row: TopRow, _ columns: Int) -> [[StyledText]] {
    guard let cells = row.battery?.cellMillivolts, !cells.isEmpty else { return [] }
    let known = cells.compactMap { $0 }
    guard let least = known.min(), let greatest = known.max() else {
      return [[], [StyledText("Cells", .bold), StyledText("  \(cells.count), not known")]]
    }
    let spread = greatest - least
    let range =
      "\(cells.count)  \(DecimalText.thousandths(least)) V to \(DecimalText.thousandths(greatest)) V  spread \(spread) mV"
    let name = StyledText("Cells  ", .bold)
    var lines: [[StyledText]] =
      [[]]
      + TextWrap.lines(range, columns: max(8, columns - 7), indent: 0).enumerated().map { index, part in
        [index == 0 ? name : "       ", StyledText(part)]
      }
    let size = 25
    let across = max(1, columns / size)
    let down = (cells.count + across - 1) / across
    for line in 0..<down {
      var texts: [StyledText] = []
      for column in 0..<across {
        let index = column * down + line
        guard index < cells.count else { continue }
        texts += cell(index + 1, cells[index], least, greatest)
      }
      lines.append(texts)
    }
    return lines
  }

  /// A cell in 25 columns: " 12 3.345 V ████████ max ".
  private func cell(_ number: Int, _ millivolts: Int?, _ least: Int, _ greatest: Int) -> [StyledText] {
    let name = String(repeating: " ", count: max(0, 3 - "\(number)".count)) + "\(number) "
    guard let millivolts else { return [StyledText(name, .dim), StyledText("-" + String(repeating: " ", count: 20))] }
    let spread = greatest - least
    // The minimum isn't drawn as an empty bar, which would look like an empty cell.
    let share = spread > 0 ? 0.2 + 0.8 * Double(millivolts - least) / Double(spread) : 1
    let (mark, style): (String, CellStyle) =
      spread == 0
      ? ("   ", .plain)
      : millivolts == least
        ? ("min", CellStyle(.yellow, bold: true))
        : millivolts == greatest ? ("max", CellStyle(.cyan, bold: true)) : ("   ", .plain)
    let text = DecimalText.thousandths(millivolts) + " V"
    let padding = String(repeating: " ", count: max(1, 8 - text.count))
    return [
      StyledText(name, .dim), StyledText(text + padding, style), StyledText(glyphs.bar(share, width: 8), style),
      StyledText(" \(mark) ", style),
    ]
  }

  // MARK: - Values

  private func values(_ row: TopRow, _ columns: Int) -> [[StyledText]] {
    guard let values = row.values, !values.isEmpty else { return [] }
    let names = values.map { SafeText.escape($0.name, limit: 32) }
    let width = min(max(8, columns / 2), names.map { TextWidth.of($0) }.max() ?? 0)
    var lines: [[StyledText]] = [[], [StyledText("Values", .bold), StyledText("  \(values.count)")]]
    for (name, value) in zip(names, values) {
      let name = TextCut.text(name, columns: width, isASCII: glyphs.isASCII)
      let padding = String(repeating: " ", count: max(0, width - TextWidth.of(name)) + 2)
      let parts = TextWrap.lines(TopRow.text(value) ?? "-", columns: max(8, columns - width - 3))
      for (index, part) in parts.enumerated() {
        let front = index == 0 ? " " + name + padding : String(repeating: " ", count: width + 3)
        let isMarked = value.isDerived && index == parts.count - 1
        lines.append([StyledText(front, .dim), StyledText(part), StyledText(isMarked ? "  derived" : "", .dim)])
      }
    }
    return lines
  }

  // MARK: - Graphs

  private func graph(_ graph: TopGraph, _ columns: Int) -> [[StyledText]] {
    graph.series.prefix(4).flatMap { series -> [[StyledText]] in
      let lines = TextGraph.lines(
        series, columns: min(columns, 120), rows: 9, time: (graph.end - graph.length)...graph.end,
        form: glyphs.isASCII ? .ascii : .unicode, style: Self.plain)
      return lines.isEmpty
        ? [] : [[]] + lines.enumerated().map { [StyledText($1, $0 == 0 ? .bold : CellStyle(.cyan))] }
    }
  }
}
