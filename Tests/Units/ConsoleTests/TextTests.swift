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
