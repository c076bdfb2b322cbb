// SPDX-License-Identifier: Apache-2.0

/// Text in lines that fit a terminal, broken between words.
package enum TextWrap {
  /// The lines of a text, none of them with more than so many columns. All but the first begin with `indent` blanks. Only a
  /// word that is wider than a line is broken inside. Colours (SGR sequences) take no room and go on in the next line.
  package static func lines(_ text: String, columns: Int, indent: Int = 0) -> [String] {
    guard TextWidth.of(text) > columns else { return [text] }
    var filler = Filler(columns: max(1, columns), indent: max(0, min(indent, columns - 1)))
    var rest = text[...]
    while let first = rest.first {
      if first == " " {
        let blanks = rest.prefix { $0 == " " }
        filler.endWord()
        filler.blanks += blanks.count
        rest = rest[blanks.endIndex...]
      } else if let sequence = colour(rest) {
        filler.word.append((String(sequence), 0))
        rest = rest[sequence.endIndex...]
      } else {
        filler.word.append((String(first), TextWidth.of(first)))
        rest = rest.dropFirst()
      }
    }
    return filler.end()
  }

  /// The SGR sequence at the beginning of a text, if there is one.
  private static func colour(_ text: Substring) -> Substring? {
    guard text.hasPrefix("\u{1B}["), let end = text.dropFirst(2).firstIndex(where: { !"0123456789;".contains($0) }),
      text[end] == "m"
    else { return nil }
    return text[...end]
  }

  private struct Filler {
    let columns: Int
    let indent: Int
    /// Those in front of the word.
    var blanks = 0
    /// The characters of a word, and how wide they are.
    var word: [(text: String, width: Int)] = []
    private var lines: [String] = []
    private var line = ""
    private var width = 0
    /// Whether the line has a word already.
    private var isBegun = false

    init(columns: Int, indent: Int) { (self.columns, self.indent) = (columns, indent) }

    mutating func endWord() {
      guard !word.isEmpty else { return }
      let wordWidth = word.reduce(0) { $0 + $1.width }
      if isBegun, width + blanks + wordWidth > columns {
        breakLine()
      } else {
        add(String(repeating: " ", count: blanks), blanks)
      }
      for character in word {
        if isBegun, width + character.width > columns { breakLine() }
        add(character.text, character.width)
        if character.width > 0 { isBegun = true }
      }
      (word, blanks) = ([], 0)
    }

    private mutating func add(_ text: String, _ width: Int) {
      line += text
      self.width += width
    }

    private mutating func breakLine() {
      lines.append(line)
      (line, width, isBegun) = (String(repeating: " ", count: indent), indent, false)
    }

    mutating func end() -> [String] {
      endWord()
      return lines + [line]
    }
  }
}
