// SPDX-License-Identifier: Apache-2.0

/// Columns of text, as wide as they need to be. Cells must be escaped already.
struct Table {
  private var rows: [[String]]

  init(_ header: [String]) { rows = [header] }

  mutating func add(_ row: [String]) { rows.append(row) }

  var lines: [String] {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.enumerated().map { number, row in
      let line = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }.joined(separator: "  ")
      let trimmed = line.reversed().drop { $0 == " " }.reversed()
      return number == 0 ? Style.standardOutput.bold(String(trimmed)) : String(trimmed)
    }
  }

  /// Two columns without a header: what, and what it is.
  static func facts(_ facts: [(String, String)]) -> [String] {
    let width = facts.map(\.0.count).max() ?? 0
    return facts.map { name, value in
      Style.standardOutput.dim(name + String(repeating: " ", count: width - name.count)) + "  " + value
    }
  }
}
