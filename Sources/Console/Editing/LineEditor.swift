// SPDX-License-Identifier: Apache-2.0

/// The line that a user is typing, with a history of earlier lines.
package struct LineEditor: Sendable {
  /// The effect of a key.
  package enum Outcome: Sendable, Hashable {
    /// The line or the cursor's place in it has changed.
    case changed
    /// The key has no effect.
    case nothing
    /// The line is finished; the editor has a new one.
    case submitted(String)
    /// A key together with Ctrl that was pressed in an empty line and isn't an editing key. The caller may send it to
    /// the accessory.
    case control(UInt8)
  }

  /// The most characters of a line; further typed or pasted characters are dropped.
  package static let longestLine = 4_096
  /// The most lines in the history.
  package static let historyLimit = 200

  private var characters: [Character] = []
  /// The index at which the next character is inserted.
  private var place = 0
  private var history: [String] = []
  /// The index of the history line that is shown; the number of lines for the new line.
  private var shown = 0
  /// The new line, while a line of the history is shown.
  private var draft: [Character] = []

  /// An empty line.
  package init() {}

  /// The current line.
  package var text: String { String(characters) }

  package mutating func handle(_ key: Key) -> Outcome {
    switch key {
    case .character(let scalar): return insert(scalar)
    case .tab: return insert("\t")
    case .enter: return submit()
    case .backspace: return remove(place - 1)
    case .delete: return remove(place)
    case .left: return move(to: place - 1)
    case .right: return move(to: place + 1)
    case .home: return move(to: 0)
    case .end: return move(to: characters.count)
    case .up: return show(shown - 1)
    case .down: return show(shown + 1)
    case .control(let byte): return control(byte)
    case .escape, .insert, .pageUp, .pageDown, .function, .unknown: return .nothing
    }
  }

  private mutating func control(_ byte: UInt8) -> Outcome {
    switch Unicode.Scalar(byte | 0x60) {
    case "a": return move(to: 0)
    case "e": return move(to: characters.count)
    case "b": return move(to: place - 1)
    case "f": return move(to: place + 1)
    case "p": return show(shown - 1)
    case "n": return show(shown + 1)
    case "k": return removeRange(place..<characters.count)
    case "u": return removeRange(0..<place)
    case "w": return removeRange(startOfWord..<place)
    case "l": return .changed
    case "c" where !characters.isEmpty: return removeRange(0..<characters.count)
    case "d" where !characters.isEmpty: return remove(place)
    default: return characters.isEmpty ? .control(byte) : .nothing
    }
  }

  private mutating func insert(_ scalar: Unicode.Scalar) -> Outcome {
    guard characters.count < Self.longestLine else { return .nothing }
    // A combining mark is added to the character before it.
    if place > 0, !scalar.isASCII {
      var joined = String(characters[place - 1])
      joined.unicodeScalars.append(scalar)
      if joined.count == 1, joined.unicodeScalars.count <= 8 {
        characters[place - 1] = Character(joined)
        return .changed
      }
    }
    characters.insert(Character(scalar), at: place)
    place += 1
    return .changed
  }

  private mutating func remove(_ index: Int) -> Outcome { removeRange(index..<(index + 1)) }

  private mutating func removeRange(_ range: Range<Int>) -> Outcome {
    guard !range.isEmpty, characters.indices.contains(range.lowerBound), range.upperBound <= characters.count else {
      return .nothing
    }
    characters.removeSubrange(range)
    place = range.lowerBound
    return .changed
  }

  private var startOfWord: Int {
    var start = place
    while start > 0, characters[start - 1] == " " { start -= 1 }
    while start > 0, characters[start - 1] != " " { start -= 1 }
    return start
  }

  private mutating func move(to index: Int) -> Outcome {
    guard index != place, (0...characters.count).contains(index) else { return .nothing }
    place = index
    return .changed
  }

  private mutating func submit() -> Outcome {
    let line = text
    if !line.isEmpty, history.last != line {
      if history.count == Self.historyLimit { history.removeFirst() }
      history.append(line)
    }
    (characters, place, shown, draft) = ([], 0, history.count, [])
    return .submitted(line)
  }

  private mutating func show(_ index: Int) -> Outcome {
    guard index != shown, (0...history.count).contains(index) else { return .nothing }
    if shown == history.count { draft = characters }
    shown = index
    characters = index == history.count ? draft : Array(history[index])
    place = characters.count
    return .changed
  }

  // MARK: - Display

  /// The part of the line that is visible in this many columns, and the column of the cursor, which is within them.
  /// Invisible characters are shown as dots.
  package func view(columns: Int) -> (text: String, cursor: Int) {
    let columns = max(1, columns)
    let cells = characters.map { character -> (text: String, width: Int) in
      let width = TextWidth.of(character)
      return width == 0 || character == "\t" ? ("·", 1) : (String(character), width)
    }
    // Goes left from the cursor as far as there is room, leaving one column for the cursor itself.
    var (start, before) = (place, 0)
    while start > 0, before + cells[start - 1].width < columns {
      start -= 1
      before += cells[start].width
    }
    var (end, width) = (place, before)
    while end < cells.count, width + cells[end].width <= columns {
      width += cells[end].width
      end += 1
    }
    return (cells[start..<end].map(\.text).joined(), before)
  }
}
