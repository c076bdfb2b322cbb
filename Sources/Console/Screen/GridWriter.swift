// SPDX-License-Identifier: Apache-2.0

/// Writes screens to a terminal: of each screen only the cells that differ from the one before, in one text.
package struct GridWriter: Sendable {
  private var shown: CellGrid?
  private let hasColour: Bool

  /// A writer for a terminal whose content isn't known. Without colour, no sequence selects a colour, bold or dim.
  package init(hasColour: Bool) { self.hasColour = hasColour }

  /// The terminal's content is no longer known: the next screen is written as a whole.
  package mutating func forget() { shown = nil }

  /// The text that makes the terminal show this screen; empty when it does already.
  package mutating func update(to grid: CellGrid) -> String {
    var text = ""
    let before: CellGrid
    if let shown, shown.columns == grid.columns, shown.rows == grid.rows {
      if shown == grid { return "" }
      before = shown
      if before.cursor != nil { text += Self.hideCursor }
    } else {
      // The size has changed, or another program has written to the terminal.
      text += Self.hideCursor + "\u{1B}[0m\u{1B}[2J"
      before = CellGrid(columns: grid.columns, rows: grid.rows)
    }
    write(grid, over: before, into: &text)
    if let cursor = grid.cursor { text += Self.move(cursor.column, cursor.row) + Self.showCursor }
    shown = grid
    return text
  }

  private static let (hideCursor, showCursor) = ("\u{1B}[?25l", "\u{1B}[?25h")

  private static func move(_ column: Int, _ row: Int) -> String { "\u{1B}[\(row + 1);\(column + 1)H" }

  private func write(_ grid: CellGrid, over before: CellGrid, into text: inout String) {
    var style = CellStyle.plain
    var isStyled = false
    // Where the terminal's cursor is; nil where that isn't certain.
    var place: Int?
    func select(_ wanted: CellStyle, _ text: inout String) {
      guard wanted != style else { return }
      let (old, new) = (style.parameters(hasColour: hasColour), wanted.parameters(hasColour: hasColour))
      if old != new { text += "\u{1B}[\(new)m" }
      (style, isStyled) = (wanted, new != "0")
    }
    for row in 0..<grid.rows {
      let start = row * grid.columns
      let end = start + grid.columns
      // From here on the row is blank.
      var blank = end
      while blank > start, grid.cells[blank - 1] == Cell() { blank -= 1 }
      var index = start
      while index < end {
        let cell = grid.cells[index]
        guard cell != before.cells[index], cell.width > 0 else {
          index += 1
          continue
        }
        if place != index { text += Self.move(index - start, row) }
        if index >= blank, end - index > 3 {
          select(.plain, &text)
          text += "\u{1B}[K"
          place = index
          break
        }
        select(cell.style, &text)
        text.append(cell.character)
        index += Int(cell.width)
        // Terminals disagree about the width of some characters, and wait at the right edge in different ways.
        place = Self.isCertain(cell) && index < end ? index : nil
      }
    }
    if isStyled { text += "\u{1B}[0m" }
  }

  /// Whether every terminal moves its cursor by the character's width.
  private static func isCertain(_ cell: Cell) -> Bool {
    if cell.character.isASCII { return true }
    guard let scalar = cell.character.unicodeScalars.first, cell.character.unicodeScalars.count == 1 else {
      return false
    }
    // Latin letters; blocks, with which bars are drawn; Braille, with which graphs are drawn.
    return scalar.value < 0x250 || (0x2580...0x259F).contains(scalar.value) || (0x2800...0x28FF).contains(scalar.value)
  }
}

/// The terminal's modes while a program fills the whole screen.
package enum FullScreen {
  /// Begins: the other screen, without wrapping at the right edge.
  package static let enter = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?25l\u{1B}[0m\u{1B}[2J"
  /// Ends: the colours, the cursor, the wrapping and the screen as before.
  package static let leave = "\u{1B}[0m\u{1B}[?25h\u{1B}[?7h\u{1B}[?1049l"
}
