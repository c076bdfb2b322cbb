// SPDX-License-Identifier: Apache-2.0

/// Breaks text between words into lines that fit a terminal.
package enum TextWrap {
  /// The lines of a text, none with more than this many columns. All lines but the first begin with `indent` blanks. A
  /// word is broken only if it is wider than a line. Colours (SGR sequences) take no columns and continue in the next
  /// line.
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
      } else if let sequence = ColourSequence.first(of: rest) {
        filler.word.append((String(sequence), 0))
        rest = rest[sequence.endIndex...]
      } else {
        filler.word.append((String(first), TextWidth.of(first)))
        rest = rest.dropFirst()
      }
    }
    return filler.end()
  }

  /// A text of several lines, each of them broken between words. What goes on is indented by two blanks more than its line.
  package static func paragraphs(_ text: String, columns: Int) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
      lines(String(line), columns: columns, indent: min(line.prefix { $0 == " " }.count, columns / 4) + 2)
    }.joined(separator: "\n")
  }

  private struct Filler {
    let columns: Int
    let indent: Int
    /// The number of blanks before the word.
    var blanks = 0
    /// The characters of the current word, with their widths.
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
      // Where the word stands below its line's beginning already, another line would have no more room for it.
      if isBegun, width + blanks + wordWidth > columns, width + blanks != indent {
        breakLine()
      } else {
        // Blanks in front of everything leave room for a character.
        let count = isBegun ? blanks : min(blanks, max(0, columns - width - 2))
        add(String(repeating: " ", count: count), count)
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
