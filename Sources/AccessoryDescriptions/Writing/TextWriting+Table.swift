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
    var bytes: [UInt8] = []
    for line in lines {
      for (cell, width) in zip(line, widths).dropLast() {
        bytes += cell
        bytes += repeatElement(0x20, count: width - cell.count + 2)
      }
      bytes += line.last ?? []
      bytes += table.lineEnd
    }
    return bytes
  }
}
