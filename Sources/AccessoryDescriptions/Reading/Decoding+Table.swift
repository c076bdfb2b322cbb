// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension Decoding {
  /// Reads the lines below the first line that has all required heads. Stops at a line in which a required column is
  /// empty.
  mutating func readTable(_ table: ProtocolDescription.Table, of text: [UInt8]) {
    let lines = text.pieces(between: table.lineEnd)
    var columns: [(place: Int, column: ProtocolDescription.Table.Column)] = []
    var heads: [Range<Int>] = []
    let head = lines.firstIndex { line in
      heads = line.words()
      let names = heads.map { String(decoding: line[$0], as: UTF8.self) }
      columns = table.columns.compactMap { column in names.firstIndex(of: column.head).map { ($0, column) } }
      return !columns.isEmpty && table.columns.allSatisfy { $0.isOptional || names.contains($0.head) }
    }
    guard let head else {
      for column in table.columns where !column.isOptional { addProblem(column.field) }
      return
    }
    for line in lines[(head + 1)...].prefix(ProtocolDescription.Limit.repetitions) {
      let cells = line.cells(below: heads)
      guard columns.allSatisfy({ $0.column.isOptional || cells[$0.place] != nil }) else { break }
      for (place, column) in columns {
        if let cell = cells[place] {
          addText(column.field, line[cell])
        } else {
          // An empty cell is unknown; it is added so that all lists have the same length.
          add(column.field, .nothing, raw: nil)
        }
      }
    }
  }
}

extension [UInt8] {
  /// The words of a line, which blanks separate.
  fileprivate func words() -> [Range<Int>] {
    var words: [Range<Int>] = []
    var start: Int?
    for index in indices {
      if self[index].isBlank {
        if let first = start { words.append(first..<index) }
        start = nil
      } else if start == nil {
        start = index
      }
    }
    if let start { words.append(start..<count) }
    return words
  }

  /// The cell below each head. A word belongs to the head with which it has most character positions in common, or else
  /// to the last head that begins in front of it. So a cell may have several words, such as a time below `Time`.
  fileprivate func cells(below heads: [Range<Int>]) -> [Int: Range<Int>] {
    var cells: [Int: Range<Int>] = [:]
    for word in words() {
      var (best, most) = (0, 0)
      for (place, head) in heads.enumerated() {
        let common = Swift.min(head.upperBound, word.upperBound) - Swift.max(head.lowerBound, word.lowerBound)
        if common > most || most == 0 && head.lowerBound <= word.lowerBound {
          (best, most) = (place, Swift.max(common, 0))
        }
      }
      let start = cells[best]?.lowerBound ?? word.lowerBound
      cells[best] = start..<word.upperBound
    }
    return cells
  }
}
