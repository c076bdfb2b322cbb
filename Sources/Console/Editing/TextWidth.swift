// SPDX-License-Identifier: Apache-2.0

/// The width of text on a terminal, in columns.
package enum TextWidth {
  /// The width of a character: two columns for East Asian characters and pictographs, none for combining marks.
  package static func of(_ character: Character) -> Int {
    character.unicodeScalars.map(of).max() ?? 0
  }

  /// The width of a text. Colours in it (SGR sequences) take no columns.
  package static func of(_ text: some StringProtocol) -> Int {
    guard text.utf8.contains(0x1B) else { return text.reduce(0) { $0 + of($1) } }
    return ColourSequence.removed(from: String(text)).reduce(0) { $0 + of($1) }
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 { return value >= 0x20 && value != 0x7F ? 1 : 0 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
      0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }

  /// The longest prefix that takes at most this many columns. Colours in it take none.
  package static func prefix(_ text: Substring, columns: Int) -> Substring {
    var (width, end) = (0, text.startIndex)
    while end < text.endIndex {
      if let sequence = ColourSequence.first(of: text[end...]) {
        end = sequence.endIndex
        continue
      }
      width += of(text[end])
      if width > columns { break }
      end = text.index(after: end)
    }
    return text[..<end]
  }
}
