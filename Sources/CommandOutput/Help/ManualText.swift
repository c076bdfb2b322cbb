// SPDX-License-Identifier: Apache-2.0

/// Text in the language of manual pages, mdoc(7).
enum ManualText {
  /// The greatest length of a line in bytes. A single longer word makes a longer line.
  private static let longest = 78

  /// Running text. Each sentence starts a new line, as mdoc(7) recommends. Words that look like macros are escaped.
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

  /// Literal lines, such as examples and columns.
  static func literal(_ lines: some Sequence<Substring>) -> [String] {
    [".Bd -literal -offset indent"] + lines.map { guarded(exact($0)) } + [".Ed"]
  }

  /// A word as a macro's argument, quoted and escaped so that it isn't taken for a macro.
  static func argument(_ word: some StringProtocol) -> String {
    let text = exact(word)
    let isName = word.count <= 3 && word.first?.isUppercase == true
    let isMark = word.count == 1 && word.first.map { !$0.isLetter && !$0.isNumber } == true
    let safe = isName || isMark ? "\\&" + text : text
    guard safe.contains(" ") || safe.contains("\"") else { return safe }
    return "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\(dq") + "\""
  }

  /// In running text, only what a user may type, such as options and paths, needs exact characters.
  private static func shown(_ word: some StringProtocol) -> String {
    let isTyped =
      word.contains { "/=$~^`|".contains($0) } || word.contains("--") || word.drop { $0 == "(" }.first == "-"
    return isTyped ? exact(word) : escaped(word, exactly: [:])
  }

  /// Escapes the characters that a page would otherwise show as typographic dashes and quotation marks, which no shell
  /// accepts.
  private static func exact(_ text: some StringProtocol) -> String {
    escaped(text, exactly: ["-": "\\-", "'": "\\(aq", "`": "\\(ga", "~": "\\(ti", "^": "\\(ha"])
  }

  private static func escaped(_ text: some StringProtocol, exactly marks: [Character: String]) -> String {
    text.map { $0 == "\\" ? "\\e" : marks[$0] ?? String($0) }.joined()
  }

  /// Escapes a line that begins with a point or an apostrophe, since it would be taken for a macro.
  private static func guarded(_ line: String) -> String {
    line.first == "." || line.first == "'" ? "\\&" + line : line
  }
}
