// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Console

/// What a terminal shows of a console: a terminal of a few rows that knows what the screen writes.
private struct TinyTerminal {
  let columns: Int
  var rows: [[Character]] = [[]]
  var (row, column) = (0, 0)

  init(columns: Int) { self.columns = columns }

  mutating func write(_ text: String) {
    var rest = Substring(text)
    while let scalar = rest.unicodeScalars.first {
      if scalar == "\u{1B}" {
        let end = rest.unicodeScalars.dropFirst(2).firstIndex { (0x40...0x7E).contains($0.value) }!
        let body = rest.unicodeScalars[rest.unicodeScalars.index(rest.startIndex, offsetBy: 2)..<end]
        act(rest.unicodeScalars[end], Int(String(body)))
        rest = rest[rest.unicodeScalars.index(after: end)...]
        continue
      }
      rest = Substring(rest.unicodeScalars.dropFirst())
      put(scalar)
    }
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\r": column = 0
    case "\n":
      row += 1
      if row == rows.count { rows.append([]) }
    default:
      precondition(column < columns, "written beyond the edge")
      while rows[row].count <= column { rows[row].append(" ") }
      rows[row][column] = Character(scalar)
      column += 1
    }
  }

  private mutating func act(_ final: Unicode.Scalar, _ number: Int?) {
    switch final {
    case "A": row = max(0, row - (number ?? 1))
    case "C": column += number ?? 1
    case "K": rows[row] = Array(rows[row].prefix(column))
    case "J":
      rows[row] = Array(rows[row].prefix(column))
      rows.removeLast(rows.count - row - 1)
    default: preconditionFailure("unknown \(final)")
    }
  }

  var lines: [String] { rows.map { String($0.reversed().drop { $0 == " " }.reversed()) } }
}

@Suite struct ScreenTests {
  private var terminal = TinyTerminal(columns: 20)
  private var screen = ConsoleScreen(columns: 20)

  private mutating func show(_ body: (inout ConsoleScreen) -> String) { terminal.write(body(&screen)) }

  @Test mutating func theTypedLineStaysBelow() {
    show { $0.setInput(("> ", "ab", 2)) }
    #expect(terminal.lines == ["> ab"] && terminal.column == 4)
    show { $0.line("connected") }
    #expect(terminal.lines == ["connected", "> ab"])
    show { $0.write("log") }
    #expect(terminal.lines == ["connected", "log", "> ab"])
    show { $0.write("in: ") }
    #expect(terminal.lines == ["connected", "login:", "> ab"] && terminal.column == 4)
    show { $0.setInput(("> ", "abc", 1)) }
    #expect(terminal.lines == ["connected", "login:", "> abc"] && terminal.column == 3)
    show { $0.newline() }
    #expect(terminal.lines == ["connected", "login:", "> abc"])
    show { $0.write("x") }
    #expect(terminal.lines == ["connected", "login:", "x", "> abc"])
    show { $0.line("gone") }
    #expect(terminal.lines == ["connected", "login:", "x", "gone", "> abc"])
    show { $0.setInput(nil) }
    #expect(terminal.lines == ["connected", "login:", "x", "gone", ""])
    show { $0.finish() }
    #expect(terminal.row == 4 && terminal.column == 0)
  }

  @Test mutating func longLinesAreBroken() {
    show { $0.setInput(("> ", "", 0)) }
    show { $0.write(String(repeating: "x", count: 50)) }
    #expect(
      terminal.lines == [String(repeating: "x", count: 19), String(repeating: "x", count: 19), "xxxxxxxxxxxx", ">"])
    show { $0.write("yyyyyyyy") }
    #expect(terminal.lines[2] == "xxxxxxxxxxxxyyyyyyy" && terminal.lines[3] == "y" && terminal.lines[4] == ">")
    show { $0.finish() }
    #expect(terminal.lines.last == "")
  }

  @Test mutating func severalChangesPutTheLineBackOnce() {
    show { $0.setInput(("> ", "ab", 2)) }
    let output = screen.together { screen in
      screen.write("one") + screen.newline() + screen.write("two") + screen.line("three")
    }
    #expect(output.split(separator: "> ab", omittingEmptySubsequences: false).count == 2)
    terminal.write(output)
    #expect(terminal.lines == ["one", "two", "three", "> ab"])
  }

  @Test mutating func aScreenWithoutATypedLineIsPlain() {
    show { $0.write("abc") }
    show { $0.newline() }
    show { $0.line("def") }
    #expect(terminal.lines == ["abc", "def", ""])
    show { $0.finish() }
    #expect(terminal.lines == ["abc", "def", ""])
  }

  @Test mutating func aWiderTerminalKeepsTheTypedLine() {
    show { $0.setInput(("> ", "ab", 2)) }
    show { $0.write("abc") }
    show { $0.resize(columns: 20) }
    #expect(terminal.lines == ["abc", "> ab"])
    var wider = TinyTerminal(columns: 30)
    (wider.rows, wider.row, wider.column) = (terminal.rows, terminal.row, terminal.column)
    terminal = wider
    show { $0.resize(columns: 30) }
    #expect(terminal.lines == ["abc", "> ab"] && terminal.column == 4)
  }
}
