// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension TextWriting {
  /// A table with as many lines as its longest list has values. Each column is as wide as its longest cell.
  static func table(_ table: ProtocolDescription.Table, _ values: [String: PlainValue]) -> [UInt8] {
    let columns = table.columns.filter { !$0.isOptional || values[$0.field.name] != nil }
    let lists = columns.map { column -> [PlainValue] in
      if case .list(let list)? = values[column.field.name] { return list }
      return values[column.field.name].map { [$0] } ?? []
    }
    let count = min(ProtocolDescription.Limit.repetitions, lists.map(\.count).max() ?? 0)
    var lines = [columns.map { Array($0.head.utf8) }]
    for row in 0..<count {
      lines.append(
        columns.indices.map { place in
          let cell = text(columns[place].field, row < lists[place].count ? lists[place][row] : nil)
          // Every line needs text in each of its columns: an empty cell would end the table.
          return cell.isEmpty ? [UInt8(ascii: "-")] : cell
        })
    }
    let widths = columns.indices.map { place in lines.map { $0[place].count }.max() ?? 0 }
    return lines.flatMap { line in
      let cells = line.indices.flatMap { place in
        line[place]
          + (place == line.count - 1 ? [] : [UInt8](repeating: 0x20, count: widths[place] - line[place].count + 2))
      }
      return cells + table.lineEnd
    }
  }
}
