// SPDX-License-Identifier: Apache-2.0

/// Texts in the language of manual pages, mdoc(7).
enum ManualText {
  /// Bytes of a line, but of one that is a single word.
  private static let longest = 78

  /// Text as it is read: a sentence on each line, as the language wants it. Nothing of it is taken for a macro.
  static func lines(_ text: some StringProtocol) -> [String] {
    var lines: [String] = []
    var line = ""
    let words = text.split(separator: " ")
    for (index, word) in words.enumerated() {
      let next = shown(word)
      if !line.isEmpty, line.utf8.count + 1 + next.utf8.count > longest {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + next
      let isEnd = word.last == "." || word.hasSuffix(".)")
      if isEnd, index + 1 < words.count, words[index + 1].first?.isUppercase == true {
        lines.append(line)
        line = ""
      }
    }
    return (line.isEmpty ? lines : lines + [line]).map(guarded)
  }

  /// Lines that are shown as they are: what can be copied, and columns.
  static func literal(_ lines: some Sequence<Substring>) -> [String] {
    [".Bd -literal -offset indent"] + lines.map { guarded(exact($0)) } + [".Ed"]
  }

  /// A word behind a macro: nothing but a word.
  static func argument(_ word: some StringProtocol) -> String {
    let text = exact(word)
    let isName = word.count <= 3 && word.first?.isUppercase == true
    let isMark = word.count == 1 && word.first.map { !$0.isLetter && !$0.isNumber } == true
    let safe = isName || isMark ? "\\&" + text : text
    guard safe.contains(" ") || safe.contains("\"") else { return safe }
    return "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\(dq") + "\""
  }

  /// In a text only what is typed has to be exact: options and what stands in paths.
  private static func shown(_ word: some StringProtocol) -> String {
    let isTyped =
      word.contains { "/=$~^`|".contains($0) } || word.contains("--") || word.drop { $0 == "(" }.first == "-"
    return isTyped ? exact(word) : escaped(word, exactly: [:])
  }

  /// Without this, pages have typographic dashes and quotation marks, which no shell takes.
  private static func exact(_ text: some StringProtocol) -> String {
    escaped(text, exactly: ["-": "\\-", "'": "\\(aq", "`": "\\(ga", "~": "\\(ti", "^": "\\(ha"])
  }

  private static func escaped(_ text: some StringProtocol, exactly marks: [Character: String]) -> String {
    text.map { $0 == "\\" ? "\\e" : marks[$0] ?? String($0) }.joined()
  }

  /// A line that begins with a point or an apostrophe would be a macro.
  private static func guarded(_ line: String) -> String {
    line.first == "." || line.first == "'" ? "\\&" + line : line
  }
}
