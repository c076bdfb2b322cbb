// SPDX-License-Identifier: Apache-2.0

import CommandOutput
import Testing

/// Columns, and how wide they are.
@Suite struct TableTests {
  private func table(_ rows: [String]...) -> Table {
    var table = Table(["NAME", "WAYS", "PATH"])
    for row in rows { table.add(row) }
    return table
  }

  @Test func onlyAHeader() {
    #expect(table().lines(Samples.pipe) == ["NAME  WAYS  PATH"])
    #expect(table().lines(Samples.coloured) == ["\u{1B}[1mNAME  WAYS  PATH\u{1B}[0m"])
  }

  /// Each column is as wide as its widest cell, the header's too, and no line ends in blanks.
  @Test func widths() {
    let table = table(["a", "tty,usb", "/dev/ttyACM0"], ["a longer name", "-", ""], ["b", "", ""])
    #expect(
      table.lines(Samples.pipe) == [
        "NAME           WAYS     PATH",
        "a              tty,usb  /dev/ttyACM0",
        "a longer name  -",
        "b",
      ])
  }

  /// One character of several scalars is as wide as one.
  @Test func characters() {
    let lines = table(["e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", "tty", "x"], ["12345", "usb", "y"]).lines(
      Samples.pipe)
    #expect(lines[0] == "NAME   WAYS  PATH")
    #expect(lines[1] == "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}  tty   x")
    #expect(lines[2] == "12345  usb   y")
  }

  @Test func cells() {
    #expect(Table.cell(nil) == "-")
    #expect(Table.cell("") == "-")
    #expect(Table.cell("Lamp\u{1B}[31m") == "Lamp\\u{1b}[31m")
    #expect(Table.cell(String(repeating: "x", count: 33)) == String(repeating: "x", count: 32) + "…")
  }

  @Test func facts() {
    let facts = [("State", "idle"), ("", "and more"), ("Fault code", "none")]
    #expect(Table.facts(facts, Samples.pipe) == ["State       idle", "            and more", "Fault code  none"])
    #expect(Table.facts(facts, Samples.coloured)[0] == "\u{1B}[2mState     \u{1B}[0m  idle")
    #expect(Table.facts([], Samples.pipe) == [])
  }
}
