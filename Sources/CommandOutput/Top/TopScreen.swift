// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// Draws `top`: turns the model, a size and a style into a screen of cells.
package struct TopScreen: Sendable {
  package let glyphs: TopGlyphs

  /// A screen with these characters.
  package init(_ glyphs: TopGlyphs) { self.glyphs = glyphs }

  /// A screen, and the time at which to redraw it without any event: when the text of a shown age changes; nil for never.
  package func draw(
    _ model: inout TopModel, columns: Int, rows: Int, now: MonotonicTime
  ) -> (grid: CellGrid, next: MonotonicTime?) {
    var grid = CellGrid(columns: columns, rows: rows, isASCII: glyphs.isASCII)
    var ages: [Duration] = []
    switch model.view {
    case .list: ages = drawList(&model, on: &grid, now)
    case .help: drawHelp(&model, on: &grid)
    case .detail(let key): ages = drawDetail(&model, key, on: &grid, now)
    }
    return (grid, model.isPaused ? nil : AgeText.nextDrawing(ages, now: now))
  }

  // MARK: - The list

  private func drawList(_ model: inout TopModel, on grid: inout CellGrid, _ now: MonotonicTime) -> [Duration] {
    drawHead(&model, on: &grid)
    let columns = TopColumns(width: grid.columns)
    let first = grid.rows > 3 ? 2 : 1
    if first == 2 { columns.drawTitles(on: &grid, row: 1, model, glyphs) }
    let last = grid.rows > 2 ? grid.rows - 1 : grid.rows
    let shown = model.fit(rows: last - first)
    let (order, selection) = (model.ordered(), model.selection())
    var ages: [Duration] = []
    for (line, place) in shown.enumerated() {
      let row = model.rows[order[place]]
      columns.draw(row, on: &grid, row: first + line, now, glyphs)
      if row.reach == .away { grid.restyle(row: first + line) { CellStyle($0.colour, bold: false, dim: true) } }
      if place == selection { grid.restyle(row: first + line) { _ in .inverse } }
      if let time = row.readTime { ages.append(now - time) }
    }
    if order.isEmpty { drawEmpty(model, on: &grid, row: first + 1) }
    if last < grid.rows { drawFoot(&model, on: &grid, row: last, shown) }
    return ages
  }

  private func drawHead(_ model: inout TopModel, on grid: inout CellGrid) {
    let counts = model.counts
    var right: [StyledText] = []
    func add(_ text: String, _ style: CellStyle = .plain) {
      if !right.isEmpty { right.append("  ") }
      right.append(StyledText(text, style))
    }
    let isNarrow = grid.columns < 60
    if counts.alarms > 0 {
      add(isNarrow ? "!!\(counts.alarms)" : Amount.of(counts.alarms, "alarm"), CellStyle(.red, bold: true))
    }
    if counts.warnings > 0 {
      add(isNarrow ? "!\(counts.warnings)" : Amount.of(counts.warnings, "warning"), CellStyle(.yellow, bold: true))
    }
    if counts.away > 0 { add(isNarrow ? "-\(counts.away)" : "\(counts.away) away") }
    let all = Amount.of(model.count, "accessory")
    add(model.filter.isEmpty ? all : "\(model.ordered().count) of \(all)", .bold)
    if model.isPaused { add("PAUSED", .inverse) }
    let width = right.reduce(0) { $0 + TextWidth.of($1.text) }
    let start = max(0, grid.columns - width)
    let title = model.notes.isEmpty ? model.title : model.notes.joined(separator: "; ")
    let end = max(0, start - 1)
    grid.draw(
      TextCut.text(title, columns: end, isASCII: glyphs.isASCII),
      model.notes.isEmpty ? .bold : CellStyle(.yellow, bold: true), at: 0, row: 0, end: end)
    grid.draw(right, at: start, row: 0)
  }

  private func drawEmpty(_ model: TopModel, on grid: inout CellGrid, row: Int) {
    let text =
      model.count == 0 ? model.emptyText : "No accessory has \"\(SafeText.escape(model.filter))\": Esc ends the filter."
    for (line, text) in TextWrap.lines(text, columns: max(1, grid.columns - 2), indent: 0).enumerated() {
      grid.draw(text, .dim, at: 1, row: row + line)
    }
  }

  private func drawFoot(_ model: inout TopModel, on grid: inout CellGrid, row: Int, _ shown: Range<Int>) {
    if let prompt = model.prompt {
      let name = prompt.purpose == .filter ? "Filter: " : "Search: "
      let view = prompt.editor.view(columns: max(1, grid.columns - name.count))
      grid.draw(name, .inverse, at: 0, row: row)
      grid.draw(view.text, at: name.count, row: row)
      return grid.cursor = (min(name.count + view.cursor, grid.columns - 1), row)
    }
    let count = model.ordered().count
    let place = count > shown.count ? "\(shown.lowerBound + 1)-\(shown.upperBound) of \(count)" : ""
    let end = place.isEmpty ? grid.columns : max(0, grid.columns - place.count - 1)
    drawKeys(
      [
        ("F1", "Help"), ("F3", "Search"), ("F4", "Filter"), ("F6", "Sort"), ("I", "Invert"), ("Enter", "Details"),
        ("q", "Quit"),
      ], on: &grid, row: row, end: end)
    grid.draw(place, at: max(0, grid.columns - place.count), row: row)
  }

  /// Draws keys with their meanings, as many as fit. The last one is always drawn.
  func drawKeys(_ keys: [(String, String)], on grid: inout CellGrid, row: Int, end: Int) {
    func width(_ key: (String, String)) -> Int { key.0.count + key.1.count + 1 }
    let last = keys.last.map(width) ?? 0
    var column = 0
    for (index, key) in keys.enumerated() {
      guard column + width(key) + (index < keys.count - 1 ? last : 0) <= end + 1 else { continue }
      column = grid.draw(key.0, .bold, at: column, row: row, end: end)
      column = grid.draw(key.1, .inverse, at: column, row: row, end: end) + 1
    }
  }

  // MARK: - The help

  private func drawHelp(_ model: inout TopModel, on grid: inout CellGrid) {
    let width = TopModel.keys.map { $0.keys.count }.max() ?? 0
    var lines: [[StyledText]] = []
    for (keys, meaning) in TopModel.keys {
      let wrapped = TextWrap.lines(meaning, columns: max(8, grid.columns - width - 3), indent: 0)
      for (index, text) in wrapped.enumerated() {
        let padding = String(repeating: " ", count: width - (index == 0 ? keys.count : 0) + 2)
        lines.append([StyledText(index == 0 ? " \(keys)" : " ", .bold), StyledText(padding + text)])
      }
    }
    lines.append([])
    let marks: [(StyledText, String)] = [
      (StyledText("!!", CellStyle(.red, bold: true)), "an alarm: a limit, a fault, or a critical battery"),
      (
        StyledText("! ", CellStyle(.yellow, bold: true)),
        "a warning: a low battery, or a warning that the accessory reports"
      ),
      ("? ", "the reading is older than it should be"), ("+ ", "is being opened, or will be tried again"),
      (StyledText("- ", .dim), "away: unplugged, no longer tried, or its service can't be reached"),
    ]
    for (mark, meaning) in marks { lines += text(meaning, after: mark, grid.columns) }
    let arrows: [(BatteryReading.Charge, String)] = [
      (.charging, "charging"), (.discharging, "discharging"), (.full, "full"),
      (.notCharging, "external power, not charging"),
    ]
    for (charge, meaning) in arrows {
      lines.append([" ", StyledText(glyphs.arrow(charge), glyphs.style(charge)), StyledText("   " + meaning)])
    }
    drawLines(lines, &model, on: &grid, title: "Keys and marks")
  }

  private func text(_ text: String, after mark: StyledText, _ columns: Int) -> [[StyledText]] {
    TextWrap.lines(text, columns: max(8, columns - 6), indent: 0).enumerated().map { index, line in
      [" ", index == 0 ? mark : "  ", StyledText("  " + line)]
    }
  }

  // MARK: - Lines

  /// Draws a title, lines that scroll, and the keys of a view.
  func drawLines(
    _ lines: [[StyledText]], _ model: inout TopModel, on grid: inout CellGrid, title: String,
    _ style: CellStyle = .bold
  ) {
    let first = grid.rows > 2 ? 1 : 0
    let last = grid.rows > 1 ? grid.rows - 1 : 1
    let shown = model.fit(lines: lines.count, rows: last - first)
    if first == 1 {
      let end = model.isPaused ? max(0, grid.columns - 7) : grid.columns
      grid.draw(TextCut.text(title, columns: end, isASCII: glyphs.isASCII), style, at: 0, row: 0, end: end)
      if model.isPaused { grid.draw("PAUSED", .inverse, at: max(0, grid.columns - 6), row: 0) }
    }
    for (row, line) in shown.enumerated() {
      grid.draw(
        TextCut.texts(lines[line], columns: grid.columns, isASCII: glyphs.isASCII), at: 0, row: first + row)
    }
    guard last < grid.rows else { return }
    let place = lines.count > shown.count ? "\(shown.lowerBound + 1)-\(shown.upperBound) of \(lines.count)" : ""
    drawKeys(
      [("Up Dn", "Scroll"), ("F10", "Quit"), ("Esc", "Back")], on: &grid, row: last,
      end: place.isEmpty ? grid.columns : max(0, grid.columns - place.count - 1))
    grid.draw(place, at: max(0, grid.columns - place.count), row: last)
  }
}
