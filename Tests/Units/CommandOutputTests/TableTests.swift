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

  @Test func aTableWithoutRowsIsItsHeader() {
    #expect(table().lines(Samples.pipe) == ["NAME  WAYS  PATH"])
    #expect(table().lines(Samples.coloured) == ["\u{1B}[1mNAME  WAYS  PATH\u{1B}[0m"])
  }

  /// Each column is as wide as its widest cell, the header's too, and no line ends in blanks.
  @Test func aColumnIsAsWideAsItsWidestCell() {
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
  @Test func combinedCharactersTakeOneColumn() {
    let lines = table(["e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", "tty", "x"], ["12345", "usb", "y"]).lines(
      Samples.pipe)
    #expect(lines[0] == "NAME   WAYS  PATH")
    #expect(lines[1] == "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}  tty   x")
    #expect(lines[2] == "12345  usb   y")
  }

  /// Characters of East Asia take two columns, and what stands on another none.
  @Test func eastAsianCharactersTakeTwoColumns() {
    let lines = table(["ランプ", "tty", "x"], ["a\u{200D}b", "usb", "y"], ["12345", "-", "z"]).lines(Samples.pipe)
    #expect(lines == ["NAME    WAYS  PATH", "ランプ  tty   x", "a\u{200D}b      usb   y", "12345   -     z"])
    #expect(Table.facts([("ランプ", "a"), ("x", "b")], Samples.pipe) == ["ランプ  a", "x       b"])
  }

  @Test func whatDoesNotFitIsLeftOut() {
    var table = Table(["NAME", "WAYS", "PATH", "USB"], optional: [1, 3])
    table.add(["lamp", "tty", "/dev/ttyACM0", "-"])
    #expect(table.lines(Samples.pipe, columns: 29) == ["NAME  WAYS  PATH          USB", "lamp  tty   /dev/ttyACM0  -"])
    // First what no row has.
    #expect(table.lines(Samples.pipe, columns: 28) == ["NAME  WAYS  PATH", "lamp  tty   /dev/ttyACM0"])
    #expect(table.lines(Samples.pipe, columns: 23) == ["NAME  PATH", "lamp  /dev/ttyACM0"])
    #expect(table.lines(Samples.pipe, columns: 18) == ["NAME  PATH", "lamp  /dev/ttyACM0"])
    // Then row by row.
    table.add(["bell", "usb", "-", "x"])
    #expect(
      table.lines(Samples.pipe, columns: 17) == [
        "NAME  lamp", "WAYS  tty", "PATH", "  /dev/ttyACM0", "", "NAME  bell", "WAYS  usb", "USB   x",
      ])
  }

  @Test func sentencesInATableAreBroken() {
    var table = Table(["NAME", "FROM", "DESCRIPTION"], optional: [1], endsInText: true)
    table.add(["lamp", "built in", "a lamp that says how bright it is"])
    #expect(
      table.lines(Samples.pipe, columns: 40) == [
        "NAME  FROM      DESCRIPTION", "lamp  built in  a lamp that says how", "                bright it is",
      ])
    #expect(
      table.lines(Samples.pipe, columns: 30) == [
        "NAME  DESCRIPTION", "lamp  a lamp that says how", "      bright it is",
      ])
    #expect(table.lines(Samples.pipe)[1] == "lamp  built in  a lamp that says how bright it is")
  }

  /// A column that may be narrow stays in the table where another would be shown row by row.
  @Test func aColumnOfSentencesMayBeNarrow() {
    var table = Table(["STEP", "SENT"], endsInText: true, leastText: 8)
    table.add(["1", "0d, then 515049beac0d"])
    #expect(
      table.lines(Samples.pipe, columns: 18) == ["STEP  SENT", "1     0d, then", "      515049beac0d"])
  }

  @Test func longFactsAreBroken() {
    let facts = [("Line", "115200 baud, 8 data bits"), ("Path", "/dev/serial/by-id/usb-a-long-name")]
    #expect(
      Table.facts(facts, Samples.pipe, columns: 24) == [
        "Line  115200 baud, 8", "      data bits", "Path  /dev/serial/by-id/", "      usb-a-long-name",
      ])
  }

  @Test func aCellIsHarmlessAndBounded() {
    #expect(Table.cell(nil) == "-")
    #expect(Table.cell("") == "-")
    #expect(Table.cell("Lamp\u{1B}[31m") == "Lamp\\u{1b}[31m")
    #expect(Table.cell(String(repeating: "x", count: 33)) == String(repeating: "x", count: 32) + "…")
  }

  @Test func factsAreAlignedBehindTheirNames() {
    let facts = [("State", "idle"), ("", "and more"), ("Fault code", "none")]
    #expect(Table.facts(facts, Samples.pipe) == ["State       idle", "            and more", "Fault code  none"])
    #expect(Table.facts(facts, Samples.coloured)[0] == "\u{1B}[2mState     \u{1B}[0m  idle")
    #expect(Table.facts([], Samples.pipe) == [])
  }
}
