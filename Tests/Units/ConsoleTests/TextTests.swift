// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Console

/// What an accessory sends, as harmless lines; and the log.
@Suite struct TextTests {
  private func lines(_ pieces: [ReceivedText.Piece]) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .newline: "\n"
      }
    }.joined()
  }

  @Test(arguments: [
    ("hello\r\nworld\n\rx\ry", "hello\nworld\n\nx\ny"), ("\r\n\r\n", "\n\n"), ("a\tb", "a       b"),
    ("12345678\tb", "12345678        b"), ("\u{1B}[2J\u{7}\u{9B}1m", "\\u{1b}[2J\\u{7}\\u{9b}1m"),
    ("\u{202E}evil\u{200B}", "\\u{202e}evil\\u{200b}"), ("käse €", "käse €"),
  ])
  func receivedTextIsEscapedInAnyPieces(text: String, expected: String) {
    let bytes = Array(text.utf8)
    var whole = ReceivedText()
    #expect(lines(whole.take(bytes)) == expected)
    // In any pieces.
    for size in 1...3 {
      var text = ReceivedText()
      var pieces: [ReceivedText.Piece] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        pieces += text.take(Array(bytes[start..<min(bytes.count, start + size)]))
      }
      #expect(lines(pieces) == expected && !text.isPending)
    }
  }

  /// Colours pass, each piece of text with its own; all other sequences are escaped.
  @Test(arguments: [
    ("\u{1B}[0;32mI (29) boot\u{1B}[0m\r\n", "\u{1B}[0;32mI (29) boot\u{1B}[0m\n", true),
    ("\u{1B}[1m\u{1B}[31mred\nplain", "\u{1B}[1m\u{1B}[31mred\u{1B}[0m\nplain", true),
    ("\u{1B}[32ma\u{1B}[mb", "\u{1B}[32ma\u{1B}[0mb", true),
    ("\u{1B}[31m\u{1B}[0m", "", true),
    ("\u{1B}[31mx\u{1B}[2J\u{1B}[32my", "\u{1B}[31mx\u{1B}[0m\\u{1b}[2J\\u{1b}[32my", false),
    ("\u{1B}[?1049hx", "\\u{1b}[?1049hx", false), ("\u{1B}]0;title\u{7}", "\\u{1b}]0;title\\u{7}", false),
    ("\u{1B}[38;2;1;2;3;4;5;6;7;8;9;10;11;12mx", "\\u{1b}[38;2;1;2;3;4;5;6;7;8;9;10;11;12mx", false),
    ("\u{9B}31mx", "\\u{9b}31mx", true),
  ])
  func coloursPassAndNothingElse(text: String, expected: String, isAlone: Bool) {
    let bytes = Array(text.utf8)
    for colours in [ReceivedText.Colours.alone, .all] where isAlone || colours == .alone {
      var whole = ReceivedText(colours: colours)
      #expect(lines(whole.take(bytes) + whole.flush()) == expected)
      var single = ReceivedText(colours: colours)
      var pieces = bytes.flatMap { single.take([$0]) }
      pieces += single.flush()
      // Cut into pieces, each has its own colours; without them it is the same text.
      #expect(ColourSequence.removed(from: lines(pieces)) == ColourSequence.removed(from: expected))
    }
    var none = ReceivedText()
    #expect(!lines(none.take(bytes)).contains("\u{1B}"))
  }

  /// A screen counts no columns for colours, and keeps a bounded line of an accessory that sends nothing else.
  @Test func aScreenCountsNoColumnsForColours() {
    var text = ReceivedText(colours: .all)
    var screen = ConsoleScreen(columns: 20)
    let line = lines(text.take(Array("\u{1B}[31mtwelve chars\u{1B}[0m".utf8)))
    #expect(!screen.write(line).contains("\r\n"))
    #expect(TextWidth.of(line) == 12 && TextWidth.prefix(line[...], columns: 6) == "\u{1B}[31mtwelve")
    #expect((0..<1_000).flatMap { _ in text.take(Array("\u{1B}[32m".utf8)) } == [])
    let next = lines(text.take([0x78]))
    #expect(next.utf8.count <= ReceivedText.colourLimit + 5, "\(next.debugDescription)")
  }

  @Test func bytesThatAreNotUTF8AreEscaped() {
    var text = ReceivedText()
    #expect(lines(text.take([0x41, 0xFF, 0xC0, 0x80, 0xED, 0xA0, 0x80, 0x42])) == "A\\xff\\xc0\\x80\\xed\\xa0\\x80B")
    #expect(lines(text.take([0xE2, 0x82])) == "" && text.isPending)
    #expect(lines(text.flush()) == "\\xe2\\x82" && !text.isPending)
    #expect(lines(text.take([0xF5, 0xE2, 0x82])) == "\\xf5")
    #expect(lines(text.take([0xAC])) == "€")
  }

  @Test func wideCharactersTakeTwoColumns() {
    #expect(TextWidth.of("abc") == 3 && TextWidth.of("日本") == 4 && TextWidth.of("e\u{301}") == 1)
    #expect(TextWidth.of("🙂") == 2 && TextWidth.of("") == 0)
    #expect(TextWidth.prefix("日本語"[...], columns: 5) == "日本")
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_400_123, "2000-02-29T00:00:00.123Z"),
      (1_795_169_703_042, "2026-11-20T10:15:03.042Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (4_102_444_799_999, "2099-12-31T23:59:59.999Z"), (68_169_600_000, "1972-02-29T00:00:00.000Z"),
    ] as [(Int64, String)])
  func logTimesAreWrittenInUTC(milliseconds: Int64, text: String) { #expect(LogLine.time(milliseconds) == text) }

  @Test func logLinesHaveBytesInHexAndText() {
    #expect(
      LogLine.bytes("received", Array("hello\n".utf8), at: 0)
        == "1970-01-01T00:00:00.000Z received 6 bytes 68656c6c6f0a |hello.|")
    #expect(LogLine.bytes("sent", [3], at: 0) == "1970-01-01T00:00:00.000Z sent 1 byte 03 |.|")
    #expect(LogLine.remark("gone\n\u{1B}x", at: 0) == "1970-01-01T00:00:00.000Z gone\\u{a}\\u{1b}x")
  }
}
