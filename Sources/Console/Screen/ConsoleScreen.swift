// SPDX-License-Identifier: Apache-2.0

/// What a console writes to its terminal: what comes from the accessory goes by above, and the line that is typed stays
/// below it.
///
/// It knows what it has written: the line that is typed, and above it the accessory's line that isn't finished, each of
/// them no longer than the terminal is wide. To write something, it takes these away and puts them back.
package struct ConsoleScreen: Sendable {
  /// The columns of the terminal.
  private var columns: Int
  /// The accessory's line that isn't finished, as it is shown.
  private var partial = ""
  private var partialWidth = 0
  /// The line that is typed, with what stands before it; nil while there is none.
  private var input: (prompt: String, text: String, cursor: Int)?
  private var isInputShown = false

  private static let up = "\u{1B}[A"
  private static let clear = "\r\u{1B}[K"

  /// A screen with nothing on it.
  package init(columns: Int) { self.columns = max(2, columns) }

  /// The columns that a line may take.
  package var width: Int { columns }

  /// The room for the line that is typed, behind a prompt.
  package func room(prompt: String) -> Int { max(1, columns - 1 - TextWidth.of(prompt)) }

  /// The terminal has another width. What is there may have been wrapped by the terminal meanwhile: it is left, and the
  /// lines that are not finished are shown anew.
  package mutating func resize(columns: Int) -> String {
    guard columns != self.columns else { return "" }
    let old = self.columns
    self.columns = max(2, columns)
    // A terminal that has become narrower shows these lines as several.
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

  // MARK: - The line that is typed

  /// Shows the line that is typed, with the cursor in it; nil takes it away.
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

  /// The cursor is behind the unfinished line then, or at the start of an empty one.
  private mutating func hideInput(forGood: Bool = false) -> String {
    defer { if forGood { input = nil } }
    guard isInputShown else { return "" }
    isInputShown = false
    if partial.isEmpty { return Self.clear }
    return Self.clear + Self.up + "\r" + (partialWidth > 0 ? "\u{1B}[\(partialWidth)C" : "")
  }

  // MARK: - What comes

  /// Text that goes on in the accessory's line. It is harmless already.
  package mutating func write(_ text: String) -> String {
    if text.isEmpty { return "" }
    return hideInput() + append(text) + showInput()
  }

  /// The accessory's line is over.
  package mutating func newline() -> String {
    let hidden = hideInput()
    (partial, partialWidth) = ("", 0)
    return hidden + "\r\n" + showInput()
  }

  /// A line of its own: what was not finished before it is finished.
  package mutating func line(_ text: String) -> String {
    var output = hideInput()
    if !partial.isEmpty { output += "\r\n" }
    (partial, partialWidth) = ("", 0)
    return output + text + "\r\n" + showInput()
  }

  /// Somebody else has written meanwhile, and left the cursor where it is now: the line that is typed is shown there.
  package mutating func redraw() -> String {
    isInputShown = false
    (partial, partialWidth) = ("", 0)
    return "\r\u{1B}[K" + showInput()
  }

  /// Everything on the screen goes, but for the line that is typed.
  package mutating func clear() -> String {
    isInputShown = false
    (partial, partialWidth) = ("", 0)
    return "\u{1B}[2J\u{1B}[H" + showInput()
  }

  /// Whether the accessory's line has something in it.
  package var isAmidLine: Bool { !partial.isEmpty }

  /// Several changes at once, so that the line that is typed is put back only once.
  package mutating func together(_ body: (inout ConsoleScreen) -> String) -> String {
    let output = hideInput()
    let held = input
    input = nil
    let changes = body(&self)
    input = held
    return output + changes + showInput()
  }

  /// Appends to the unfinished line, which is broken where the terminal ends.
  private mutating func append(_ text: String) -> String {
    var output = ""
    var rest = text[...]
    while !rest.isEmpty {
      let room = columns - 1 - partialWidth
      var piece = TextWidth.prefix(rest, columns: room)
      // A character that is wider than the terminal is still shown, in a line of its own.
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

  /// The end: the cursor is at the start of an empty line.
  package mutating func finish() -> String {
    let output = hideInput(forGood: true)
    return output + (partial.isEmpty ? "" : "\r\n")
  }
}
