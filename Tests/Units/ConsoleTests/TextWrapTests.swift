// SPDX-License-Identifier: Apache-2.0

import Console
import TestSupport
import Testing

/// Text in lines that fit.
@Suite struct TextWrapTests {
  @Test(
    arguments: [
      ("a few words", 20, 0, ["a few words"]), ("a few words", 6, 0, ["a few", "words"]),
      ("a few words", 6, 2, ["a few", "  word", "  s"]), ("a  few  words", 8, 1, ["a  few", " words"]),
      ("  a few", 6, 4, ["  a fe", "    w"]), ("0123456789", 4, 0, ["0123", "4567", "89"]),
      ("ab 0123456789", 4, 1, ["ab", " 012", " 345", " 678", " 9"]), ("", 4, 0, [""]),
      // Below the beginning of the next line a long word has as much room as there.
      ("ab  0123456789", 8, 4, ["ab  0123", "    4567", "    89"]), ("ab  01234 67", 8, 4, ["ab  0123", "    4 67"]),
      ("ランプ ランプ", 7, 0, ["ランプ", "ランプ"]), ("ランプ", 5, 0, ["ラン", "プ"]), ("ラン", 1, 5, ["ラ", "ン"]),
      ("e\u{301}e\u{301} e\u{301}", 2, 0, ["e\u{301}e\u{301}", "e\u{301}"]),
    ] as [(String, Int, Int, [String])])
  func textIsBrokenBetweenWords(text: String, columns: Int, indent: Int, lines: [String]) {
    #expect(TextWrap.lines(text, columns: columns, indent: indent) == lines)
  }

  /// Each line by itself; what goes on is indented a little more.
  @Test(arguments: [
    (120, ["error: the port is used by another program", "Usage: tool list [--all]", "  See tool --help"]),
    (
      30,
      [
        "error: the port is used by", "  another program", "Usage: tool list [--all]", "  See tool --help",
      ]
    ),
    (
      16,
      [
        "error: the port", "  is used by", "  another", "  program", "Usage: tool list", "  [--all]", "  See tool",
        "    --help",
      ]
    ),
  ]) func paragraphsAreBrokenLineByLine(columns: Int, lines: [String]) {
    let text = "error: the port is used by another program\nUsage: tool list [--all]\n  See tool --help"
    #expect(TextWrap.paragraphs(text, columns: columns).split(separator: "\n").map(String.init) == lines)
  }

  /// Colours take no room.
  @Test func coloursTakeNoRoomInALine() {
    let text = "\u{1B}[2ma few\u{1B}[0m \u{1B}[38;5;1mwords\u{1B}[0m"
    #expect(TextWidth.of(text) == 11)
    #expect(TextWrap.lines(text, columns: 11) == [text])
    #expect(
      TextWrap.lines(text, columns: 10) == ["\u{1B}[2ma few\u{1B}[0m", "\u{1B}[38;5;1mwords\u{1B}[0m"])
  }

  /// Whatever comes, no line is too wide, and no character is lost.
  @Test(arguments: 1...5) func wrappingLosesNoCharacter(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let characters: [Character] = ["a", "b", " ", " ", "ラ", "\u{1B}", "[", "m", "1", "e\u{301}"]
    for _ in 0..<1_000 {
      let text = String((0..<40).map { _ in characters.randomElement(using: &generator) ?? "a" })
      let (columns, indent) = (Int.random(in: 6...30, using: &generator), Int.random(in: 0...3, using: &generator))
      let lines = TextWrap.lines(text, columns: columns, indent: indent)
      let at: Comment = "seed \(seed): \(text.debugDescription) in \(columns) columns, indented by \(indent)"
      #expect(lines.count == 1 || lines.allSatisfy { TextWidth.of($0) <= columns }, at)
      #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " }, at)
    }
  }
}
