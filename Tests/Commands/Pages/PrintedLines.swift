// SPDX-License-Identifier: Apache-2.0

/// What stands on a terminal when all of this has been written to it: lines that were drawn again count once. It knows the
/// sequences that the commands use: up, erase the line or all below, and colours, which are left out.
struct PrintedLines {
  private var lines: [[Character]] = [[]]
  private var row = 0
  private var column = 0

  /// The lines, without empty ones at the end.
  static func of(_ text: String) -> [String] {
    var screen = PrintedLines()
    screen.write(text)
    var lines = screen.lines.map { String($0) }
    while let last = lines.last, last.allSatisfy({ $0 == " " }) { lines.removeLast() }
    return lines
  }

  private mutating func write(_ text: String) {
    var rest = text.unicodeScalars.map(Character.init)[...]
    while let character = rest.popFirst() {
      switch character {
      case "\r": column = 0
      case "\n": newLine()
      case "\u{1B}" where rest.first == "[":
        let sequence = rest.dropFirst().prefix { !$0.isLetter }
        rest = rest[sequence.endIndex...]
        guard let final = rest.popFirst() else { return }
        obey(final, Int(String(sequence)))
      default: put(character)
      }
    }
  }

  private mutating func newLine() {
    row += 1
    column = 0
    if row == lines.count { lines.append([]) }
  }

  private mutating func put(_ character: Character) {
    while lines[row].count < column { lines[row].append(" ") }
    if column < lines[row].count { lines[row][column] = character } else { lines[row].append(character) }
    column += 1
  }

  private mutating func obey(_ final: Character, _ number: Int?) {
    switch final {
    case "A": row = max(0, row - (number ?? 1))
    case "K": lines[row].removeSubrange(min(column, lines[row].count)...)
    case "J":
      lines[row].removeSubrange(min(column, lines[row].count)...)
      lines.removeSubrange((row + 1)...)
    default: break
    }
  }
}
