// SPDX-License-Identifier: Apache-2.0

/// A command line of a page, with what it prints.
struct PageStep: Sendable {
  /// Without the `&` at its end, and without what a comment says behind it.
  var command: String
  /// The lines that the page shows below it.
  var output: [Substring] = []
  /// Whether the page interrupts it with Ctrl-C, when it has printed that.
  var isInterrupted = false
  /// Whether it goes on running, as its `&` says.
  var isBehind = false

  /// Whether it goes on running where the page says so in words: in another terminal.
  var isInTheOtherTerminal: Bool { !isBehind && !isInterrupted && command.hasPrefix("bridge-cli simulate ") }
  /// Whether it runs while the page goes on.
  var staysRunning: Bool { isBehind || isInTheOtherTerminal }

  init(_ line: Substring) {
    var text = line
    if let comment = text.firstRange(of: "  #") { text = text[..<comment.lowerBound] }
    while text.hasSuffix(" ") { text.removeLast() }
    if text.hasSuffix("&"), !text.hasSuffix("&&") {
      isBehind = true
      text.removeLast()
    }
    command = String(text)
  }

  /// The steps of a block: a line that begins with `$ ` is typed, `^C` interrupts, all other lines are printed.
  static func steps(of lines: [Substring]) -> [PageStep] {
    var steps: [PageStep] = []
    for line in lines {
      if line.hasPrefix("$ ") {
        steps.append(PageStep(line.dropFirst(2)))
      } else if line == "^C", !steps.isEmpty {
        steps[steps.count - 1].isInterrupted = true
      } else if !steps.isEmpty {
        steps[steps.count - 1].output.append(line)
      }
    }
    return steps
  }

  /// The lines that stay on a terminal of what was written to it, without what the harness writes at the end.
  static func printed(_ text: String) -> [String] {
    var lines = PrintedLines.of(text)
    if let end = lines.lastIndex(where: { $0.hasPrefix("the program has ended with ") }) {
      lines.removeSubrange(end...)
    }
    while let last = lines.last, last.isEmpty || last == "^C" { lines.removeLast() }
    return lines
  }
}
