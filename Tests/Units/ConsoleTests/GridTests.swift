// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Console

@Suite struct GridTests {
  private func grid(_ lines: String..., columns: Int = 10, rows: Int = 3) -> CellGrid {
    var grid = CellGrid(columns: columns, rows: rows)
    for (row, line) in lines.enumerated() { grid.draw(line, at: 0, row: row) }
    return grid
  }

  // MARK: - Drawing

  @Test func whatDoesNotFitIsCut() {
    var grid = CellGrid(columns: 5, rows: 2)
    #expect(grid.draw("hello world", at: 2, row: 0) == 5)
    #expect(grid.text(row: 0) == "  hel")
    #expect(grid.draw("x", at: 0, row: 2) == 0)
    #expect(grid.draw("x", at: 0, row: -1) == 0)
    grid.draw("abcdef", at: 0, row: 1, end: 3)
    #expect(grid.text(row: 1) == "abc")
  }

  /// A wide character isn't cut in half, neither at the edge nor by what is drawn over it.
  @Test func wideCharactersAreNotCutInHalf() {
    var grid = CellGrid(columns: 5, rows: 1)
    #expect(grid.draw("ランプ", at: 0, row: 0) == 4)
    #expect(grid.text(row: 0) == "ラン")
    #expect(grid[1, 0].width == 0)
    grid.draw("x", at: 1, row: 0)
    #expect(grid.text(row: 0) == " xン")
    grid.draw("y", at: 2, row: 0)
    #expect(grid.text(row: 0) == " xy")
    #expect((0..<5).allSatisfy { grid[$0, 0].width == 1 })
  }

  /// Only printable characters become cells: no sequence of a device can reach the terminal.
  @Test func controlCharactersAreLeftOut() {
    var grid = CellGrid(columns: 20, rows: 1)
    grid.draw("a\u{1B}[31mb\u{7}\u{9B}2J\r\n\u{301}c", at: 0, row: 0)
    #expect(grid.text(row: 0) == "a[31mb2Jc")
  }

  @Test func aGridOfASCIIShowsQuestionMarks() {
    var grid = CellGrid(columns: 10, rows: 1, isASCII: true)
    grid.draw("a█ランb", at: 0, row: 0)
    #expect(grid.text(row: 0) == "a?????b")
  }

  @Test func sizesOfAGridAreBounded() {
    #expect(CellGrid(columns: 0, rows: -3).cells.count == 1)
    #expect(CellGrid(columns: .max, rows: 1).columns == CellGrid.longestSide)
  }

  @Test func theCursorStaysOnTheScreen() {
    var grid = CellGrid(columns: 4, rows: 2)
    grid.cursor = (3, 1)
    #expect(grid.cursor?.column == 3 && grid.cursor?.row == 1)
    grid.cursor = (4, 1)
    #expect(grid.cursor == nil)
  }

  // MARK: - Differences

  @Test func onlyChangedCellsAreWritten() {
    var writer = GridWriter(hasColour: true)
    #expect(writer.update(to: grid("hello", "world")).contains("\u{1B}[2J"))
    #expect(writer.update(to: grid("hello", "world")) == "")
    #expect(writer.update(to: grid("hello", "wOrld")) == "\u{1B}[2;2HO")
    #expect(writer.update(to: grid("hellO", "wOrlD")) == "\u{1B}[1;5HO\u{1B}[2;5HD")
    // The end of a row that becomes blank is cleared at once.
    #expect(writer.update(to: grid("h", "wOrlD")) == "\u{1B}[1;2H\u{1B}[K")
  }

  @Test func anotherSizeOrAForgottenScreenIsWrittenWhole() {
    var writer = GridWriter(hasColour: true)
    _ = writer.update(to: grid("hello"))
    #expect(writer.update(to: grid("hello", columns: 12)).contains("hello"))
    writer.forget()
    #expect(writer.update(to: grid("hello", columns: 12)).contains("hello"))
  }

  @Test func stylesEndWithTheText() {
    var styled = CellGrid(columns: 6, rows: 1)
    styled.draw("ab", CellStyle(.red, bold: true), at: 0, row: 0)
    styled.draw("c", at: 2, row: 0)
    var writer = GridWriter(hasColour: true)
    #expect(writer.update(to: styled).hasSuffix("\u{1B}[1;1H\u{1B}[0;1;31mab\u{1B}[0mc"))
    // A change of the style alone is a change.
    styled.draw("c", .inverse, at: 2, row: 0)
    #expect(writer.update(to: styled) == "\u{1B}[1;3H\u{1B}[0;7mc\u{1B}[0m")
  }

  /// Without colour nothing but inverse is ever selected.
  @Test func aWriterWithoutColourOnlyInverts() {
    var styled = CellGrid(columns: 20, rows: 1)
    var column = 0
    for colour in [CellStyle.Colour.plain, .red, .green, .yellow, .blue, .cyan] {
      for style in [CellStyle(colour), CellStyle(colour, bold: true, dim: true), CellStyle(colour, inverse: true)] {
        column = styled.draw("x", style, at: column, row: 0)
      }
    }
    var writer = GridWriter(hasColour: false)
    let text = writer.update(to: styled)
    let codes = text.split(separator: "\u{1B}[").compactMap { part in
      part.firstIndex(of: "m").map { String(part[..<$0]) }
    }.filter { $0.allSatisfy { "0123456789;".contains($0) } }
    #expect(Set(codes) == ["0", "0;7"])
  }

  /// The place is said again after a character whose width terminals disagree about.
  @Test func thePlaceIsRepeatedBehindAnUncertainWidth() {
    var writer = GridWriter(hasColour: true)
    _ = writer.update(to: grid(""))
    #expect(writer.update(to: grid("☃x█y")) == "\u{1B}[1;1H☃\u{1B}[1;2Hx█y")
  }

  @Test func theCursorIsShownAndHidden() {
    var writer = GridWriter(hasColour: true)
    var screen = grid("a")
    _ = writer.update(to: screen)
    screen.cursor = (1, 0)
    #expect(writer.update(to: screen) == "\u{1B}[1;2H\u{1B}[?25h")
    screen.cursor = nil
    #expect(writer.update(to: screen) == "\u{1B}[?25l")
  }

  /// What a terminal shows after differences is what it would show after the whole screen, whatever was there.
  @Test(arguments: 1...3) func differencesAddUpToTheWholeScreen(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (writer, terminal) = (GridWriter(hasColour: true), FakeTerminal(columns: 12, rows: 4))
    for round in 0..<100 {
      var screen = CellGrid(columns: 12, rows: 4)
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        let text = ["abc", "ラン", "x", "      ", "█▌", "ン☃"].randomElement(using: &random) ?? ""
        let style = [CellStyle.plain, .inverse, CellStyle(.red)].randomElement(using: &random) ?? .plain
        screen.draw(text, style, at: Int.random(in: 0..<12, using: &random), row: Int.random(in: 0..<4, using: &random))
      }
      terminal.take(writer.update(to: screen))
      for row in 0..<4 {
        #expect(terminal.text(row: row) == screen.text(row: row), "seed \(seed), round \(round), row \(row)")
      }
    }
  }
}

/// A terminal that knows as much as the writer uses.
private struct FakeTerminal {
  private var cells: [[Character?]]
  private var (column, row) = (0, 0)

  init(columns: Int, rows: Int) { cells = Array(repeating: Array(repeating: " ", count: columns), count: rows) }

  func text(row: Int) -> String {
    var text = String(cells[row].compactMap { $0 })
    while text.last == " " { text.removeLast() }
    return text
  }

  mutating func take(_ text: String) {
    var rest = text[...]
    while let character = rest.popFirst() {
      guard character == "\u{1B}" else {
        put(character)
        continue
      }
      rest = rest.dropFirst()
      let parameters = rest.prefix { !$0.isLetter }
      rest = rest.dropFirst(parameters.count)
      switch rest.popFirst() {
      case "H":
        let numbers = parameters.split(separator: ";").compactMap { Int($0) }
        (row, column) = (numbers[0] - 1, numbers[1] - 1)
      case "K": for index in column..<cells[row].count { put(" ", at: index) }
      case "J": for row in cells.indices { for index in cells[row].indices { cells[row][index] = " " } }
      default: break
      }
    }
  }

  private mutating func put(_ character: Character) {
    let width = TextWidth.of(character)
    for index in column..<min(cells[row].count, column + width) { put(" ", at: index) }
    cells[row][column] = character
    if width == 2 { cells[row][column + 1] = nil }
    column = min(column + width, cells[row].count - 1)
  }

  /// The other half of a wide character vanishes.
  private mutating func put(_ blank: Character, at index: Int) {
    if cells[row][index] == nil, index > 0 { cells[row][index - 1] = " " }
    if index + 1 < cells[row].count, cells[row][index + 1] == nil { cells[row][index + 1] = " " }
    cells[row][index] = blank
  }
}
