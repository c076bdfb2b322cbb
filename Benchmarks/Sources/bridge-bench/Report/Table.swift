// SPDX-License-Identifier: Apache-2.0

/// The result for people.
enum Table {
  private static let headings = ["", "ours", "theirs", "ratio", "min … max", "required", ""]

  static func text(_ rows: [Row]) -> String {
    let lines = [headings] + rows.map(cells)
    let widths = headings.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    var group = ""
    var text = line(headings, widths)
    for (row, cells) in zip(rows, lines.dropFirst()) {
      if row.group != group {
        group = row.group
        text += "\n\(group)\n"
      }
      text += line(cells, widths)
    }
    return text
  }

  private static func cells(_ row: Row) -> [String] {
    let range = [row.ratioMin, row.ratioMax].compactMap { $0.map { Format.fixed($0, digits: 2) } }
    return [
      "  " + row.name, "\(Format.number(row.ours)) \(row.unit)",
      row.theirs.map { "\(Format.number($0)) \(row.peer ?? "")" } ?? "",
      row.ratio.map { Format.fixed($0, digits: 2) + " ×" } ?? "", range.joined(separator: " … "),
      row.requirement ?? "", row.met.map { $0 ? "met" : "MISSED" } ?? "",
    ]
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (column, (cell, width)) in zip(cells, widths).enumerated() {
      let padding = String(repeating: " ", count: width - cell.count)
      line += (column > 0 ? "  " : "") + (column > 0 && column < 5 ? padding + cell : cell + padding)
    }
    while line.last == " " { line.removeLast() }
    return line + "\n"
  }
}
