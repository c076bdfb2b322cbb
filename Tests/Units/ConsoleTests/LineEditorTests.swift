// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Console

/// A line that is typed.
@Suite struct LineEditorTests {
  private func type(_ text: String, _ editor: inout LineEditor) {
    for scalar in text.unicodeScalars { _ = editor.handle(.character(scalar)) }
  }

  private func press(_ keys: Key..., in editor: inout LineEditor) {
    for key in keys { _ = editor.handle(key) }
  }

  @Test func keysEditTheLine() {
    var editor = LineEditor()
    type("helo wrld", &editor)
    press(.left, .left, .left, in: &editor)
    type("o", &editor)
    press(.home, .right, .right, .right, in: &editor)
    type("l", &editor)
    press(.end, .backspace, .ctrl("a"), .delete, .ctrl("e"), in: &editor)
    type("!", &editor)
    #expect(editor.text == "ello worl!")
    press(.ctrl("w"), in: &editor)
    #expect(editor.text == "ello ")
    press(.ctrl("a"), .right, .ctrl("k"), in: &editor)
    #expect(editor.text == "e")
    press(.ctrl("u"), in: &editor)
    #expect(editor.text == "")
    #expect(editor.handle(.backspace) == .nothing)
    #expect(editor.handle(.left) == .nothing)
  }

  @Test func lettersWithMarksAreOne() {
    var editor = LineEditor()
    type("e\u{301}x", &editor)
    #expect(editor.text.count == 2)
    press(.backspace, .backspace, in: &editor)
    #expect(editor.text == "")
  }

  @Test func earlierLinesAreRecalled() {
    var editor = LineEditor()
    for line in ["one", "two", "two", ""] {
      type(line, &editor)
      #expect(editor.handle(.enter) == .submitted(line))
    }
    type("new", &editor)
    press(.up, in: &editor)
    #expect(editor.text == "two")
    press(.up, in: &editor)
    #expect(editor.text == "one")
    #expect(editor.handle(.up) == .nothing)
    press(.down, .down, in: &editor)
    #expect(editor.text == "new")
    #expect(editor.handle(.down) == .nothing)
    for number in 0..<1_000 {
      type("\(number)", &editor)
      press(.enter, in: &editor)
    }
    for _ in 0..<1_000 { press(.up, in: &editor) }
    #expect(editor.text == "800")
  }

  @Test func controlsAreTheAccessorysInAnEmptyLine() {
    var editor = LineEditor()
    for letter: Unicode.Scalar in ["c", "d", "z"] {
      #expect(editor.handle(.ctrl(letter)) == .control(UInt8(letter.value & 31)))
    }
    type("ab", &editor)
    #expect(editor.handle(.ctrl("z")) == .nothing)
    #expect(editor.handle(.ctrl("c")) == .changed)
    #expect(editor.text == "")
  }

  @Test func aFloodIsPassedOver() {
    var editor = LineEditor()
    type(String(repeating: "x", count: 10_000), &editor)
    #expect(editor.text.count == LineEditor.longestLine)
  }

  @Test func theViewOfALineFitsItsColumns() {
    var editor = LineEditor()
    #expect(editor.view(columns: 10) == ("", 0))
    type("0123456789abcdef", &editor)
    #expect(editor.view(columns: 40) == ("0123456789abcdef", 16))
    #expect(editor.view(columns: 10) == ("789abcdef", 9))
    press(.home, in: &editor)
    #expect(editor.view(columns: 10) == ("0123456789", 0))
    press(.ctrl("u"), .ctrl("k"), in: &editor)
    type("日本\u{9}語", &editor)
    press(.tab, in: &editor)
    #expect(editor.view(columns: 20) == ("日本·語·", 8))
    for columns in 0...10 {
      let view = editor.view(columns: columns)
      #expect(TextWidth.of(view.text) <= max(1, columns) && view.cursor < max(1, columns), "\(columns)")
    }
  }
}
