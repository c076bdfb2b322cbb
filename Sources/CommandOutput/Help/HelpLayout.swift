// SPDX-License-Identifier: Apache-2.0

/// Wraps a command's help, which is given with unwrapped lines, for a screen.
///
/// A command's own options come before the groups with a heading, which many commands share. Text in two columns stays
/// in two columns where the screen is wide enough; on a narrow screen the second column goes below the first.
package enum HelpLayout {
  /// The help for a screen of `columns` columns.
  package static func text(_ help: String, columns: Int) -> String {
    let columns = max(columns, 20)
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
    return arranged(lines).flatMap { fill($0, columns) }.joined(separator: "\n")
  }

  // MARK: - Order

  private static func arranged(_ lines: [Substring]) -> [Substring] {
    var sections: [[Substring]] = [[]]
    for line in lines {
      if isHeading(line) { sections.append([]) }
      sections[sections.count - 1].append(line)
    }
    guard let own = sections.firstIndex(where: { $0.first == "OPTIONS:" }) else { return lines }
    let options = sections.remove(at: own)
    let arguments = sections.firstIndex { $0.first == "ARGUMENTS:" } ?? 0
    sections.insert(options, at: arguments + 1)
    // Trailing empty lines are removed from each section, so that the order doesn't affect the spacing.
    return sections.map { section in Array(section.reversed().drop(while: \.isEmpty).reversed()) }
      .joined(separator: [""]).map { $0 }
  }

  /// Whether a line is a heading: "LINE OPTIONS:", but not "USAGE: bridge-cli …".
  private static func isHeading(_ line: Substring) -> Bool {
    line.last == ":" && line.count > 1 && line.dropLast().allSatisfy { $0.isUppercase || $0 == " " }
      && line.first != " "
  }

  // MARK: - Lines

  /// The second column in ArgumentParser's output, also where it is on a line of its own.
  private static let secondColumn = 26

  private static func fill(_ line: Substring, _ columns: Int) -> [String] {
    let indent = line.prefix { $0 == " " }.count
    let text = line.dropFirst(indent)
    guard !text.isEmpty else { return [""] }
    let narrow = 6
    if indent >= secondColumn {
      let column = secondColumn <= columns / 2 ? secondColumn : narrow
      return words(text, first: column, others: column, columns)
    }
    if indent > 0, let (label, about) = columnsOf(text) {
      let column = line.count - about.count
      guard column > columns / 2 else {
        return words(about, first: column, others: column, columns, begin: String(line.prefix(column)))
      }
      return words(label, first: indent, others: indent + 4, columns)
        + words(about, first: narrow, others: narrow, columns)
    }
    let others = line.hasPrefix("USAGE: ") ? 7 : indent == 0 ? 0 : indent + 4
    return words(text, first: indent, others: others, columns)
  }

  /// The texts before and after the first run of two or more blanks.
  private static func columnsOf(_ text: Substring) -> (label: Substring, about: Substring)? {
    var blanks = 0
    for index in text.indices {
      if text[index] == " " {
        blanks += 1
      } else {
        if blanks > 1 {
          let label = text[..<index]
          return (label.dropLast(blanks), text[index...])
        }
        blanks = 0
      }
    }
    return nil
  }

  /// Wraps words into lines. A word is never broken, however long it is.
  private static func words(
    _ text: Substring, first: Int, others: Int, _ columns: Int, begin: String? = nil
  ) -> [String] {
    var lines: [String] = []
    var line = begin ?? String(repeating: " ", count: first)
    var isEmpty = true
    for word in text.split(separator: " ") {
      if !isEmpty, line.count + 1 + word.count > columns {
        lines.append(line)
        (line, isEmpty) = (String(repeating: " ", count: others), true)
      }
      line += (isEmpty ? "" : " ") + word
      isEmpty = false
    }
    lines.append(line)
    return lines
  }
}
