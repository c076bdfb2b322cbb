// SPDX-License-Identifier: Apache-2.0

/// Colours in text: SGR sequences of ECMA-48, such as `ESC [ 1 ; 31 m`.
package enum ColourSequence {
  /// The colour sequence at the beginning of a text; nil when there is none.
  package static func first(of text: Substring) -> Substring? {
    guard text.first == "\u{1B}", text.dropFirst().first == "[",
      let end = text.dropFirst(2).firstIndex(where: { !"0123456789;".contains($0) }), text[end] == "m"
    else { return nil }
    return text[...end]
  }

  /// The text without its colours.
  package static func removed(from text: String) -> String {
    guard text.utf8.contains(0x1B) else { return text }
    var (plain, rest) = ("", text[...])
    while let character = rest.first {
      if let sequence = first(of: rest) {
        rest = rest[sequence.endIndex...]
      } else {
        plain.append(character)
        rest = rest.dropFirst()
      }
    }
    return plain
  }
}
