// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// Columns of text, as wide as they need to be. Cells must be escaped already.
package struct Table {
  private var rows: [[String]]
  /// The columns that a narrow terminal does without, the first that is left out first.
  private let optional: [Int]
  /// Whether the last column holds sentences, which may be broken.
  private let endsInText: Bool

  /// What a column of sentences has at least.
  private static let textWidth = 24
  private static let gap = 2

  /// A table without rows.
  package init(_ header: [String], optional: [Int] = [], endsInText: Bool = false) {
    (rows, self.optional, self.endsInText) = ([header], optional, endsInText)
  }

  /// Adds a row, which has a cell for each column of the header.
  package mutating func add(_ row: [String]) { rows.append(row) }

  /// The header and the rows. No line ends in blanks.
  ///
  /// `columns` are those of the terminal, where there is one. What doesn't fit there is left out, as far as it is optional:
  /// first what no row has. What then still doesn't fit is shown row by row, a line for each cell.
  package func lines(_ style: Style = .standardOutput, columns: Int? = nil) -> [String] {
    let shown = shown(columns)
    let widths = shown.map { width($0) }
    guard let columns, minimum(shown) > columns else { return table(style, shown, widths, columns) }
    let header = rows[0]
    return rows.dropFirst().enumerated().flatMap { number, row in
      (number > 0 ? [""] : [])
        + Table.facts(
          header.indices.map { (header[$0], row[$0]) }.filter { $0.1 != "-" && $0.1 != "" }, style, columns: columns)
    }
  }

  private func table(_ style: Style, _ shown: [Int], _ widths: [Int], _ columns: Int?) -> [String] {
    rows.enumerated().flatMap { number, row -> [String] in
      var line = zip(shown, widths).map { Table.padded(row[$0], $1) }.joined(
        separator: String(repeating: " ", count: Table.gap))
      line.removeLast(line.reversed().prefix { $0 == " " }.count)
      if number == 0 { line = style.bold(line) }
      guard let columns, endsInText, number > 0 else { return [line] }
      return TextWrap.lines(line, columns: columns, indent: widths.dropLast().reduce(0) { $0 + $1 + Table.gap })
    }
  }

  /// The columns that are shown in so many columns of a terminal.
  private func shown(_ columns: Int?) -> [Int] {
    var shown = Array(rows[0].indices)
    guard let columns else { return shown }
    let empty = optional.filter { column in rows.dropFirst().allSatisfy { ["-", ""].contains($0[column]) } }
    for column in empty + optional where minimum(shown) > columns { shown.removeAll { $0 == column } }
    return shown
  }

  /// The columns of a terminal that these need.
  private func minimum(_ shown: [Int]) -> Int {
    let last = rows[0].count - 1
    return shown.reduce(-Table.gap) { sum, column in
      let width = width(column)
      return sum + Table.gap + (endsInText && column == last ? min(width, Table.textWidth) : width)
    }
  }

  private func width(_ column: Int) -> Int { rows.map { TextWidth.of($0[column]) }.max() ?? 0 }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - TextWidth.of(text)))
  }

  /// A text of a device as a cell: made harmless and cut; a dash where there is none.
  package static func cell(_ text: String?) -> String {
    guard let text, !text.isEmpty else { return "-" }
    return SafeText.escape(text, limit: 32)
  }

  /// Two columns without a header: what, and what it is. Both must be escaped already. Where they don't fit in so many
  /// columns of a terminal, they are broken between words.
  package static func facts(
    _ facts: [(String, String)], _ style: Style = .standardOutput, columns: Int? = nil
  ) -> [String] {
    let width = facts.map { TextWidth.of($0.0) }.max() ?? 0
    return facts.flatMap { name, value -> [String] in
      let line = style.dim(padded(name, width)) + "  " + value
      guard let columns else { return [line] }
      return TextWrap.lines(line, columns: columns, indent: columns - width - gap >= textWidth / 2 ? width + gap : gap)
    }
  }
}
