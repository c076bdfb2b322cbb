// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Console

/// Bytes of a terminal as keys.
@Suite struct KeyTests {
  private func keys(_ text: String) -> [Key] { keys(Array(text.utf8)) }

  private func keys(_ bytes: [UInt8]) -> [Key] {
    var decoder = KeyDecoder()
    var keys: [Key] = []
    decoder.decode(bytes, into: &keys)
    decoder.flush(into: &keys)
    return keys
  }

  @Test func charactersAndControlsAreKeys() {
    #expect(keys("aé€🙂") == [.character("a"), .character("é"), .character("€"), .character("🙂")])
    #expect(
      keys([13, 10, 9, 8, 127, 3, 0x1D]) == [.enter, .enter, .tab, .backspace, .backspace, .control(3), .control(29)])
    #expect(Key.ctrl("c") == .control(3) && Key.ctrl("]") == .control(0x1D) && Key.ctrl("t") == .control(20))
  }

  @Test(
    arguments: [
      ("\u{1B}[A", .up), ("\u{1B}OB", .down), ("\u{1B}[1;5C", .right), ("\u{1B}[D", .left), ("\u{1B}[H", .home),
      ("\u{1B}[4~", .end), ("\u{1B}[3~", .delete), ("\u{1B}[5~", .pageUp), ("\u{1B}OP", .function(1)),
      ("\u{1B}[11~", .function(1)), ("\u{1B}[[A", .function(1)), ("\u{1B}[[E", .function(5)),
      ("\u{1B}[15~", .function(5)),
      ("\u{1B}[17~", .function(6)), ("\u{1B}[21~", .function(10)), ("\u{1B}[24;2~", .function(12)),
      ("\u{1B}[1;2P", .function(1)),
      ("\u{1B}OM", .enter), ("\u{1B}[99~", .unknown), ("\u{1B}[200~", .unknown), ("\u{1B}[Z", .unknown),
      ("\u{1B}", .escape),
    ] as [(String, Key)])
  func aSequenceIsOneKeyInAnyPieces(text: String, key: Key) {
    #expect(keys(text) == [key])
    // In any two pieces.
    for cut in 0...text.utf8.count {
      var decoder = KeyDecoder()
      var found: [Key] = []
      decoder.decode(text.utf8.prefix(cut), into: &found)
      decoder.decode(text.utf8.dropFirst(cut), into: &found)
      #expect(decoder.isPending == (key == .escape))
      decoder.flush(into: &found)
      #expect(found == [key])
      #expect(!decoder.isPending)
    }
  }

  @Test func brokenSequencesAreSeparateKeys() {
    #expect(keys("\u{1B}\u{1B}[A") == [.escape, .up])
    #expect(keys("\u{1B}x") == [.character("x")])
    #expect(keys("\u{1B}[") == [.escape, .character("[")])
    #expect(keys("\u{1B}[1;\r") == [.escape, .character("["), .character("1"), .character(";"), .enter])
    #expect(keys([0xC3, 0x41]) == [.unknown, .character("A")])
    #expect(keys([0xFF, 0xC0, 0x80]) == [.unknown, .unknown, .unknown])
    #expect(keys([0xED, 0xA0, 0x80]) == [.unknown])
    #expect(keys([0xC2, 0x9B]) == [.unknown])  // a control character of eight bits
    let long = keys("\u{1B}[" + String(repeating: "1;", count: 1_000))
    #expect(long.contains(.unknown) && long.count < 2_002)
  }
}
