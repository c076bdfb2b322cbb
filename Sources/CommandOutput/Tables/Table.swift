// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// A table of text columns, each as wide as its widest cell. Cells must be escaped already.
package struct Table {
  private var rows: [[String]]
  /// The columns that may be left out on a narrow terminal, in the order in which they are left out.
  private let optional: [Int]
  /// Whether the last column contains sentences, which may be wrapped.
  private let endsInText: Bool

  /// The smallest width of the column of sentences.
  private let leastText: Int
  /// The smallest width of a column of sentences, and of the values of facts.
  private static let textWidth = 24
  private static let gap = 2

  /// A table with a header and no rows.
  package init(_ header: [String], optional: [Int] = [], endsInText: Bool = false, leastText: Int? = nil) {
    (rows, self.optional, self.endsInText) = ([header], optional, endsInText)
    self.leastText = leastText ?? Self.textWidth
  }

  /// Adds a row with one cell for each column of the header.
  package mutating func add(_ row: [String]) { rows.append(row) }

  /// The header and the rows, without trailing blanks.
  ///
  /// `columns` is the terminal's width; nil without a terminal. If the table is too wide, optional columns are left
  /// out, empty ones first. If it is still too wide, each row is shown as one line per cell.
  package func lines(_ style: Style = .standardOutput, columns: Int? = nil) -> [String] {
    let all = rows[0].indices.map { column in rows.map { TextWidth.of($0[column]) }.max() ?? 0 }
    let shown = shown(columns, all)
    guard let columns, minimum(shown, all) > columns else { return table(style, shown, shown.map { all[$0] }, columns) }
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

  /// The indices of the columns that are shown on a terminal of this width.
  private func shown(_ columns: Int?, _ widths: [Int]) -> [Int] {
    var shown = Array(rows[0].indices)
    guard let columns else { return shown }
    let empty = optional.filter { column in rows.dropFirst().allSatisfy { ["-", ""].contains($0[column]) } }
    for column in empty + optional where minimum(shown, widths) > columns { shown.removeAll { $0 == column } }
    return shown
  }

  /// The width that these columns need at least.
  private func minimum(_ shown: [Int], _ widths: [Int]) -> Int {
    shown.reduce(-Table.gap) { sum, column in
      let isText = endsInText && column == widths.count - 1
      return sum + Table.gap + (isText ? min(widths[column], leastText) : widths[column])
    }
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - TextWidth.of(text)))
  }

  /// A device's text as a cell: escaped and cut; a dash for an empty text.
  package static func cell(_ text: String?) -> String {
    guard let text, !text.isEmpty else { return "-" }
    return SafeText.escape(text, limit: 32)
  }

  /// Two columns without a header: a name and a value, both escaped already. Values that don't fit into `columns`
  /// columns are wrapped between words.
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
