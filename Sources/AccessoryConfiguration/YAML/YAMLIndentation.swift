// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Explains a line at which libyaml has failed by its indentation, which libyaml doesn't name.
enum YAMLIndentation {
  private static let (blank, tab, dash) = (UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "-"))

  /// What is wrong with the indentation of a line, counted from 1; nil where it fits the lines above.
  static func fault(ofLine number: Int, in text: some Collection<UInt8>) -> String? {
    let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: number, omittingEmptySubsequences: false)
    guard number >= 1, lines.count >= number else { return nil }
    let indentation = lines[number - 1].prefix { $0 == blank || $0 == tab }
    if indentation.contains(tab) { return "the line is indented with a tab: indent it with blanks" }

    // The columns at which mappings and sequences above are open, the outermost first.
    var open: [Int] = []
    var above: ArraySlice<UInt8> = []
    for line in lines.prefix(number - 1).map({ meaning(of: Array($0)) }) where !line.isEmpty {
      var column = line.startIndex
      while let last = open.last, last > column { open.removeLast() }
      if open.last != column { open.append(column) }
      // What follows "- " is inside of the element.
      while line.dropFirst(column - line.startIndex).starts(with: [dash, blank]) {
        column += 2
        open.append(column)
      }
      above = line
    }
    guard let deepest = open.last, !open.contains(indentation.count) else { return nil }
    let blanks = "the line has \(Amount.of(indentation.count, "blank")) before it, and "
    guard indentation.count < deepest else {
      let opens = above.last == UInt8(ascii: ":") || above.last == dash
      return opens ? nil : blanks + "the line above, with \(deepest), has its value already"
    }
    return blanks + "those above that it could belong to have \(open.map(String.init).joined(separator: " or "))"
  }

  /// A line without the remark at its end, from its first character to its last one that isn't blank: its indices are columns.
  private static func meaning(of line: [UInt8]) -> ArraySlice<UInt8> {
    let start = line.firstIndex { $0 != blank && $0 != UInt8(ascii: "\r") } ?? line.endIndex
    var text = line[start...]
    let remark = text.indices.first { text[$0] == UInt8(ascii: "#") && ($0 == start || line[$0 - 1] == blank) }
    if let remark { text = text[..<remark] }
    while let last = text.last, last == blank || last == UInt8(ascii: "\r") { text.removeLast() }
    return text
  }
}
