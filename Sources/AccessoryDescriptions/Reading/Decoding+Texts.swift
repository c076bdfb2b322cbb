// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension Decoding {
  mutating func addText(_ field: ProtocolDescription.Field, _ text: some Collection<UInt8>) {
    guard let (value, raw) = field.meaning(ofText: text) else { return addProblem(field) }
    if let raw, field.isNonsense(field.taken(from: raw), value) { result.problemCount += 1 }
    add(field, value, raw: raw)
  }

  // MARK: - Labels and values

  /// Reads the values of known labels; other labels are ignored.
  mutating func readPairs(
    _ body: ProtocolDescription.PairsBody, of content: RawSpan, framing: ProtocolDescription.Framing
  ) {
    let bytes = [UInt8](copying: content)
    let lineEnd: [UInt8]
    if let own = body.lineEnd {
      lineEnd = own
    } else if case .pairs(let pairs) = framing.form {
      lineEnd = pairs.begin
    } else {
      return
    }
    for line in bytes.pieces(between: lineEnd) {
      guard let place = line.firstPlace(of: body.separator) else { continue }
      let label = String(decoding: line[..<place].trimmed.prefix(ProtocolDescription.Limit.text), as: UTF8.self)
      guard let field = body.fields[label] else { continue }
      addText(field, line[(place + body.separator.count)...])
    }
  }

  // MARK: - Columns

  mutating func readColumns(_ columns: ProtocolDescription.Columns, of text: [UInt8]) {
    let pieces: [ArraySlice<UInt8>]
    switch columns.separation {
    case .places: pieces = []
    case .blanks: pieces = text.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
    case .byte(let byte): pieces = text.split(separator: byte, omittingEmptySubsequences: false)
    }
    for column in columns.columns {
      if columns.separation == .places {
        let end = column.place + column.count
        if end <= text.count {
          addText(column.field, text[column.place..<end])
        } else if column.place < text.count, column.field.type == .plainText {
          // A text that is cut is only shorter, but the missing digits of a number are unknown.
          addText(column.field, text[column.place...])
        } else if !column.isOptional {
          addProblem(column.field)
        }
      } else if pieces.indices.contains(column.place) {
        addText(column.field, pieces[column.place])
      } else if !column.isOptional {
        addProblem(column.field)
      }
    }
  }

  // MARK: - Patterns

  mutating func readPattern(_ pattern: ProtocolDescription.TextPattern, of text: [UInt8]) {
    var rest = text.trimmed[...]
    var isLost = false
    for (index, part) in pattern.core.enumerated() {
      switch part {
      case .literal(let literal):
        if !isLost, rest.starts(with: literal) { rest = rest.dropFirst(literal.count) } else { isLost = true }
      case .field(let field):
        var end = rest.endIndex
        if index + 1 < pattern.core.count, case .literal(let next) = pattern.core[index + 1] {
          guard let place = Array(rest).firstPlace(of: next) else {
            isLost = true
            addProblem(field)
            continue
          }
          end = rest.startIndex + place
        }
        if isLost { addProblem(field) } else { addText(field, rest[..<end]) }
        rest = rest[end...]
      }
    }
    if isLost { result.problemCount += 1 }
  }
}

extension [UInt8] {
  /// The index at which these bytes first occur; nil if they don't.
  func firstPlace(of wanted: [UInt8]) -> Int? {
    guard !wanted.isEmpty, count >= wanted.count else { return nil }
    return (0...(count - wanted.count)).first { start in
      wanted.indices.allSatisfy { self[start + $0] == wanted[$0] }
    }
  }

  /// The pieces between separators, without empty ones.
  func pieces(between separator: [UInt8]) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var start = 0
    var index = 0
    while index < count {
      if index + separator.count <= count, separator.indices.allSatisfy({ self[index + $0] == separator[$0] }) {
        if index > start { pieces.append(Array(self[start..<index])) }
        index += separator.count
        start = index
      } else {
        index += 1
      }
    }
    if start < count { pieces.append(Array(self[start...])) }
    return pieces
  }
}

extension ProtocolDescription.TextPattern {
  /// Whether a text has all literals of the pattern in their order, and nothing behind the last part. Blanks and line
  /// ends at both ends of the text are ignored.
  func fits(_ text: RawSpan) -> Bool {
    var (start, end) = (0, text.byteCount)
    while start < end, text.byte(uncheckedAt: start).isBlank { start += 1 }
    while end > start, text.byte(uncheckedAt: end - 1).isBlank { end -= 1 }
    var isBehindField = false
    for part in core {
      guard case .literal(let literal) = part else {
        isBehindField = true
        continue
      }
      while !(end - start >= literal.count && text.extracting(start..<end).starts(with: literal)) {
        guard isBehindField, start < end else { return false }
        start += 1
      }
      start += literal.count
      isBehindField = false
    }
    return isBehindField || start == end
  }
}
