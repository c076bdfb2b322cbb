// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// One place on the screen.
package struct Cell: Hashable, Sendable {
  /// The character; a blank in the right half of a wide character.
  package var character: Character = " "
  package var style = CellStyle.plain
  /// The columns that the character takes: 1 or 2; 0 for the right half of a wide character.
  package var width: UInt8 = 1
}

/// A screen's content: rows of cells. What doesn't fit is cut. Nothing that is drawn can move or hide anything else on the
/// screen, since control characters and characters without a width are left out.
package struct CellGrid: Hashable, Sendable {
  package let columns, rows: Int
  package private(set) var cells: [Cell]
  /// Where the cursor is shown; nil hides it.
  package var cursor: (column: Int, row: Int)? {
    get { cursorPlace.map { ($0 % columns, $0 / columns) } }
    set {
      cursorPlace = newValue.flatMap { place in
        (0..<columns).contains(place.column) && (0..<rows).contains(place.row)
          ? place.row * columns + place.column : nil
      }
    }
  }
  private var cursorPlace: Int?
  /// Whether only ASCII is drawn: other characters become question marks.
  package let isASCII: Bool

  /// The largest size in each direction.
  package static let longestSide = 1_000

  /// An empty screen. Each side is at least 1 and at most `longestSide`.
  package init(columns: Int, rows: Int, isASCII: Bool = false) {
    self.columns = min(max(1, columns), Self.longestSide)
    self.rows = min(max(1, rows), Self.longestSide)
    self.isASCII = isASCII
    cells = Array(repeating: Cell(), count: self.columns * self.rows)
  }

  /// The cell at a place within the screen.
  package subscript(column: Int, row: Int) -> Cell { cells[row * columns + column] }

  /// The text of a row, without blanks at its end.
  package func text(row: Int) -> String {
    var text = ""
    for cell in cells[(row * columns)..<((row + 1) * columns)] where cell.width > 0 { text.append(cell.character) }
    while text.last == " " { text.removeLast() }
    return text
  }

  // MARK: - Drawing

  /// Draws a text from a place on, at most to the column before `end`; nil: to the right edge. Returns the column behind it.
  @discardableResult
  package mutating func draw(
    _ text: some StringProtocol, _ style: CellStyle = .plain, at column: Int, row: Int, end: Int? = nil
  ) -> Int {
    var column = column
    guard (0..<rows).contains(row), column >= 0 else { return column }
    let end = min(columns, end ?? columns)
    for character in text {
      let width = TextWidth.of(character)
      guard width > 0, Self.isHarmless(character) else { continue }
      if isASCII, !character.isASCII {
        for _ in 0..<width where column < end {
          set("?", style, 1, column, row)
          column += 1
        }
        continue
      }
      guard column + width <= end else { break }
      set(character, style, UInt8(width), column, row)
      column += width
    }
    return column
  }

  /// Whether a terminal shows the character and does nothing else.
  private static func isHarmless(_ character: Character) -> Bool {
    if character.isASCII { return true }
    // What bars and graphs are made of, for speed.
    if let first = character.unicodeScalars.first, (0x2580...0x28FF).contains(first.value) { return true }
    return character.unicodeScalars.allSatisfy(SafeText.isHarmless)
  }

  /// Draws texts of several styles one after another. Returns the column behind them.
  @discardableResult
  package mutating func draw(_ texts: [StyledText], at column: Int, row: Int, end: Int? = nil) -> Int {
    texts.reduce(column) { draw($1.text, $1.style, at: $0, row: row, end: end) }
  }

  /// Gives the cells of a row another style.
  package mutating func restyle(row: Int, from start: Int = 0, to end: Int? = nil, _ change: (CellStyle) -> CellStyle) {
    guard (0..<rows).contains(row) else { return }
    for column in max(0, start)..<max(max(0, start), min(columns, end ?? columns)) {
      let index = row * columns + column
      cells[index].style = change(cells[index].style)
    }
  }

  private mutating func set(_ character: Character, _ style: CellStyle, _ width: UInt8, _ column: Int, _ row: Int) {
    let index = row * columns + column
    // Half of a wide character can't stay.
    if cells[index].width == 0, column > 0 { cells[index - 1] = Cell(style: cells[index - 1].style) }
    let last = index + Int(width) - 1
    if column + Int(width) < columns, cells[last + 1].width == 0 {
      cells[last + 1] = Cell(style: cells[last + 1].style)
    }
    cells[index] = Cell(character: character, style: style, width: width)
    if width == 2 { cells[index + 1] = Cell(style: style, width: 0) }
  }
}
