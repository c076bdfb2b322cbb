// SPDX-License-Identifier: Apache-2.0

/// The screen of a console: the accessory's output scrolls above, and the line that the user types stays below it.
///
/// The screen keeps track of what it has written: the typed line and, above it, the accessory's unfinished line,
/// neither longer than the terminal is wide. To write something, it removes these lines and shows them again after it.
/// The methods return the text to write to the terminal.
package struct ConsoleScreen: Sendable {
  /// The columns of the terminal.
  private var columns: Int
  /// The accessory's unfinished line, as it is shown.
  private var partial = ""
  private var partialWidth = 0
  /// The typed line with its prompt; nil while there is none.
  private var input: (prompt: String, text: String, cursor: Int)?
  private var isInputShown = false

  private static let up = "\u{1B}[A"
  private static let clear = "\r\u{1B}[K"

  /// A screen with nothing on it.
  package init(columns: Int) { self.columns = max(2, columns) }

  /// The width of the terminal in columns.
  package var width: Int { columns }

  /// The columns that are left for the typed line after a prompt.
  package func room(prompt: String) -> Int { max(1, columns - 1 - TextWidth.of(prompt)) }

  /// Adapts to another width. The terminal may have wrapped the earlier output meanwhile: that output stays, and the
  /// unfinished lines are shown again.
  package mutating func resize(columns: Int) -> String {
    guard columns != self.columns else { return "" }
    let old = self.columns
    self.columns = max(2, columns)
    // A terminal that has become narrower shows each of these lines as several.
    let rows = isInputShown ? Self.rows(inputWidth, self.columns) - 1 : 0
    let partialRows = partial.isEmpty ? 0 : Self.rows(partialWidth, self.columns)
    let above = self.columns < old ? rows + partialRows : isInputShown && !partial.isEmpty ? 1 : 0
    let text = partial
    isInputShown = false
    (partial, partialWidth) = ("", 0)
    return "\r" + String(repeating: Self.up, count: above) + "\u{1B}[J" + append(text) + showInput()
  }

  private var inputWidth: Int { input.map { TextWidth.of($0.prompt) + TextWidth.of($0.text) } ?? 0 }

  private static func rows(_ width: Int, _ columns: Int) -> Int { max(1, (width + columns - 1) / columns) }

  // MARK: - The typed line

  /// Shows the typed line with its cursor; nil removes it.
  package mutating func setInput(_ line: (prompt: String, text: String, cursor: Int)?) -> String {
    if !isInputShown {
      input = line
      return showInput()
    }
    guard let line else { return hideInput(forGood: true) }
    input = line
    return Self.clear + line.prompt + line.text + cursor(line)
  }

  private func cursor(_ line: (prompt: String, text: String, cursor: Int)) -> String {
    let column = TextWidth.of(line.prompt) + line.cursor
    return "\r" + (column > 0 ? "\u{1B}[\(column)C" : "")
  }

  private mutating func showInput() -> String {
    guard let input, !isInputShown else { return "" }
    isInputShown = true
    return (partial.isEmpty ? "" : "\r\n") + input.prompt + input.text + cursor(input)
  }

  /// Removes the typed line. Afterwards the cursor is at the end of the unfinished line, or at the start of an empty
  /// line.
  private mutating func hideInput(forGood: Bool = false) -> String {
    defer { if forGood { input = nil } }
    guard isInputShown else { return "" }
    isInputShown = false
    if partial.isEmpty { return Self.clear }
    return Self.clear + Self.up + "\r" + (partialWidth > 0 ? "\u{1B}[\(partialWidth)C" : "")
  }

  // MARK: - Output

  /// Appends text to the accessory's line. The text must not contain control characters.
  package mutating func write(_ text: String) -> String {
    if text.isEmpty { return "" }
    return hideInput() + append(text) + showInput()
  }

  /// Ends the accessory's line.
  package mutating func newline() -> String {
    let hidden = hideInput()
    (partial, partialWidth) = ("", 0)
    return hidden + "\r\n" + showInput()
  }

  /// Writes a complete line, after ending an unfinished one.
  package mutating func line(_ text: String) -> String {
    var output = hideInput()
    if !partial.isEmpty { output += "\r\n" }
    (partial, partialWidth) = ("", 0)
    return output + text + "\r\n" + showInput()
  }

  /// Shows the typed line at the cursor's current place, after another program has written to the terminal.
  package mutating func redraw() -> String {
    isInputShown = false
    (partial, partialWidth) = ("", 0)
    return "\r\u{1B}[K" + showInput()
  }

  /// Clears the screen except for the typed line.
  package mutating func clear() -> String {
    isInputShown = false
    (partial, partialWidth) = ("", 0)
    return "\u{1B}[2J\u{1B}[H" + showInput()
  }

  /// Whether the accessory's line is unfinished.
  package var isAmidLine: Bool { !partial.isEmpty }

  /// Makes several changes at once, so that the typed line is shown again only once.
  package mutating func together(_ body: (inout ConsoleScreen) -> String) -> String {
    let output = hideInput()
    let held = input
    input = nil
    let changes = body(&self)
    input = held
    return output + changes + showInput()
  }

  /// Appends to the unfinished line, and breaks it at the terminal's width.
  private mutating func append(_ text: String) -> String {
    var output = ""
    var rest = text[...]
    while !rest.isEmpty {
      let room = columns - 1 - partialWidth
      var piece = TextWidth.prefix(rest, columns: room)
      // A character that is wider than the terminal gets a line of its own.
      if piece.isEmpty, partial.isEmpty { piece = rest.prefix(1) }
      if piece.isEmpty {
        output += "\r\n"
        (partial, partialWidth) = ("", 0)
        continue
      }
      output += piece
      partial += piece
      partialWidth += TextWidth.of(piece)
      rest = rest[piece.endIndex...]
    }
    return output
  }

  /// Ends the screen: the cursor is then at the start of an empty line.
  package mutating func finish() -> String {
    let output = hideInput(forGood: true)
    return output + (partial.isEmpty ? "" : "\r\n")
  }
}
