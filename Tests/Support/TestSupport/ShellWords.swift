// SPDX-License-Identifier: Apache-2.0

/// The commands of lines for a shell, as pages and help show them: words, with quotes read, and without what the shell does with them. It
/// knows no more of the shell's language than the project's pages use.
public enum ShellWords {
  private static let ends: Set<Character> = ["|", ";", "&", "(", ")", "\n"]
  /// Words before a command that it goes on behind.
  private static let before: Set = [
    "sudo", "exec", "if", "while", "until", "do", "then", "else", "!", "{", "time", "nohup", "timeout",
  ]

  /// The words of each command in the text whose program is one of these. A line that ends with a backslash, or with a pipe, goes on in the next one.
  public static func commands(_ text: some StringProtocol, of programs: Set<String>) -> [[String]] {
    pieces(String(text).replacing(#/\\\n\s*/#, with: " ")).compactMap { words in
      var words = words[...]
      while let first = words.first, before.contains(first) || isAssignment(first) || isDuration(first) {
        words = words.dropFirst()
        if first == "sudo" { while words.first?.hasPrefix("-") == true { words = words.dropFirst() } }
      }
      guard let path = words.first, let program = path.split(separator: "/").last.map(String.init),
        programs.contains(program)
      else { return nil }
      return [program] + words.dropFirst()
    }
  }

  private static func isAssignment(_ word: String) -> Bool { word.contains(#/^[A-Z_]+=/#) }
  private static func isDuration(_ word: String) -> Bool { word.contains(#/^[0-9]+[smh]?$/#) }

  /// The words between what separates commands. What is behind `>` or `<` is none of a command's words.
  private static func pieces(_ text: String) -> [[String]] {
    var pieces: [[String]] = []
    var words: [String] = []
    var word: String?
    var isFile = false
    func end() {
      if let done = word, !isFile { words.append(done) }
      if word != nil { (word, isFile) = (nil, false) }
    }
    func endCommand() {
      end()
      if !words.isEmpty { pieces.append(words) }
      (words, isFile) = ([], false)
    }
    var rest = Array(text)[...]
    while let character = rest.popFirst() {
      switch character {
      case "'", "\"":
        var quoted = ""
        while let next = rest.popFirst(), next != character {
          if next == "\\", character == "\"", let escaped = rest.popFirst() {
            quoted.append(escaped)
          } else {
            quoted.append(next)
          }
        }
        word = (word ?? "") + quoted
      case "\\": if let next = rest.popFirst() { word = (word ?? "") + String(next) }
      case "$" where rest.first == "(": endCommand()
      case "#" where word == nil:
        while let next = rest.first, next != "\n" {
          _ = next
          rest = rest.dropFirst()
        }
      case ">", "<":
        // "2>" is the number of a descriptor.
        if let number = word, number.allSatisfy(\.isNumber) { word = nil }
        end()
        isFile = true
        while let next = rest.first, next == ">" || next == "&" || next == "<" { rest = rest.dropFirst() }
      case _ where ends.contains(character): endCommand()
      case " ", "\t": end()
      default: word = (word ?? "") + String(character)
      }
    }
    endCommand()
    return pieces
  }
}
