// SPDX-License-Identifier: Apache-2.0

import Console
import Testing

/// Text that is cut says so.
@Suite struct TextCutTests {
  @Test(
    arguments: [
      ("grid_voltage", 12, "grid_voltage", "grid_voltage"), ("grid_voltage", 11, "grid_volta…", "grid_volt.."),
      ("line fail", 6, "line…", "line.."), ("ab", 1, "…", "."), ("ab", 0, "", ""), ("ab", -1, "", ""), ("", 0, "", ""),
      ("ランプ", 5, "ラン…", "ラ.."), ("\u{1B}[31mlong text\u{1B}[0m", 5, "long…", "lon.."),
      ("\u{1B}[31mred\u{1B}[0m", 3, "\u{1B}[31mred\u{1B}[0m", "\u{1B}[31mred\u{1B}[0m"),
    ] as [(String, Int, String, String)])
  func aCutTextEndsInAnEllipsis(text: String, columns: Int, cut: String, ascii: String) {
    #expect(TextCut.text(text, columns: columns) == cut)
    #expect(TextCut.text(text, columns: columns, isASCII: true) == ascii)
  }

  /// Parts are whole, or there is an ellipsis in their place.
  @Test(
    arguments: [
      (40, "21 °C  grid_voltage 0 V  load 14 %"), (34, "21 °C  grid_voltage 0 V  load 14 %"),
      (33, "21 °C  grid_voltage 0 V  …"), (26, "21 °C  grid_voltage 0 V  …"), (25, "21 °C  …"), (8, "21 °C  …"),
      (7, "21 °C…"),
      (4, "21…"), (0, ""),
    ])
  func partsThatDoNotFitAreLeftOutWhole(columns: Int, text: String) {
    #expect(TextCut.whole(["21 °C", "grid_voltage 0 V", "load 14 %"], columns: columns) == text)
    #expect(TextCut.whole([], columns: columns) == "")
  }

  @Test func styledTextsKeepTheirStylesWhenCut() {
    let line = [StyledText("Cells", .bold), StyledText("  15  "), StyledText("spread 47 mV", .dim)]
    func texts(_ columns: Int) -> [String] { TextCut.texts(line, columns: columns).map(\.text) }
    #expect(texts(23) == line.map(\.text))
    #expect(texts(22) == ["Cells", "  15  ", "spread 47 …"])
    #expect(texts(12) == ["Cells", "  15  ", "…"])
    #expect(texts(11) == ["Cells", "  15 …"])
    #expect(texts(5) == ["Cell…"])
    #expect(TextCut.texts(line, columns: 22).map(\.style) == line.map(\.style))
    for columns in 0...30 { #expect(texts(columns).reduce(0) { $0 + TextWidth.of($1) } <= columns) }
  }
}
