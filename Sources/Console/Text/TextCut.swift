// SPDX-License-Identifier: Apache-2.0

/// Cuts text to a width, and marks with an ellipsis that something is missing.
package enum TextCut {
  /// The text, if it takes at most this many columns; otherwise its beginning, without its colours, and an ellipsis.
  package static func text(_ text: String, columns: Int, isASCII: Bool = false) -> String {
    guard TextWidth.of(text) > columns else { return text }
    let mark = ellipsis(isASCII, columns)
    var kept = TextWidth.prefix(ColourSequence.removed(from: text)[...], columns: columns - TextWidth.of(mark))
    while kept.last == " " { kept.removeLast() }
    return kept + mark
  }

  /// The same for a line of several styles. The ellipsis has the style of what it cuts.
  package static func texts(_ texts: [StyledText], columns: Int, isASCII: Bool = false) -> [StyledText] {
    guard texts.reduce(0, { $0 + TextWidth.of($1.text) }) > columns else { return texts }
    var cut: [StyledText] = []
    var left = columns
    for (index, one) in texts.enumerated() {
      let width = TextWidth.of(one.text)
      let isLast = texts[(index + 1)...].allSatisfy { TextWidth.of($0.text) == 0 }
      // What follows needs room for the ellipsis at least.
      guard width > left || (width == left && !isLast) else {
        cut.append(one)
        left -= width
        continue
      }
      let mark = ellipsis(isASCII, left)
      let kept = TextWidth.prefix(one.text[...], columns: left - TextWidth.of(mark))
      cut.append(StyledText(kept + mark, one.style))
      break
    }
    return cut
  }

  /// As many of the parts as fit, whole, with two blanks between them. An ellipsis stands for the others. Only a first part
  /// that doesn't fit by itself is cut.
  package static func whole(_ parts: [String], columns: Int, isASCII: Bool = false) -> String {
    let gap = "  "
    let all = parts.joined(separator: gap)
    guard TextWidth.of(all) > columns, let first = parts.first else { return all }
    let mark = ellipsis(isASCII, columns)
    var shown = first
    for part in parts.dropFirst() {
      let longer = shown + gap + part
      guard TextWidth.of(longer + gap + mark) <= columns else { break }
      shown = longer
    }
    return text(shown + gap + mark, columns: columns, isASCII: isASCII)
  }

  private static func ellipsis(_ isASCII: Bool, _ columns: Int) -> String {
    String((isASCII ? ".." : "…").prefix(max(0, columns)))
  }
}
