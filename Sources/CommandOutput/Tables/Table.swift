// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Columns of text, as wide as they need to be. Cells must be escaped already.
package struct Table {
  private var rows: [[String]]

  /// A table without rows.
  package init(_ header: [String]) { rows = [header] }

  /// Adds a row, which has a cell for each column of the header.
  package mutating func add(_ row: [String]) { rows.append(row) }

  /// The header and the rows. No line ends in blanks.
  package func lines(_ style: Style = .standardOutput) -> [String] {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.enumerated().map { number, row in
      let line = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }.joined(separator: "  ")
      let trimmed = line.reversed().drop { $0 == " " }.reversed()
      return number == 0 ? style.bold(String(trimmed)) : String(trimmed)
    }
  }

  /// A text of a device as a cell: made harmless and cut; a dash where there is none.
  package static func cell(_ text: String?) -> String {
    guard let text, !text.isEmpty else { return "-" }
    return SafeText.escape(text, limit: 32)
  }

  /// Two columns without a header: what, and what it is. Both must be escaped already.
  package static func facts(_ facts: [(String, String)], _ style: Style = .standardOutput) -> [String] {
    let width = facts.map(\.0.count).max() ?? 0
    return facts.map { name, value in
      style.dim(name + String(repeating: " ", count: width - name.count)) + "  " + value
    }
  }
}
