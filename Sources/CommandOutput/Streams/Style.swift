// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Colour, where somebody sees it: on a terminal that can do it, unless NO_COLOR is set (no-color.org).
package struct Style: Sendable {
  /// What standard output shows.
  package static let standardOutput = Style(STDOUT_FILENO)
  /// What standard error shows.
  package static let standardError = Style(STDERR_FILENO)

  /// Whether a person looks at it.
  package let isTerminal: Bool
  private let hasColour: Bool

  /// A style as it is said here.
  package init(isTerminal: Bool, hasColour: Bool) {
    self.isTerminal = isTerminal
    self.hasColour = hasColour
  }

  private init(_ descriptor: CInt) {
    isTerminal = isatty(descriptor) == 1
    let noColour = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
    let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
    hasColour = isTerminal && !noColour && !isDumb
  }

  /// Bold.
  package func bold(_ text: String) -> String { paint(text, "1") }
  /// Less bright: what stands beside the result.
  package func dim(_ text: String) -> String { paint(text, "2") }
  /// Red: what is wrong.
  package func red(_ text: String) -> String { paint(text, "31") }
  /// Green: what is well.
  package func green(_ text: String) -> String { paint(text, "32") }
  /// Yellow: what is neither.
  package func yellow(_ text: String) -> String { paint(text, "33") }

  /// A text with these parameters of a terminal's SGR sequence.
  package func paint(_ text: String, _ code: String) -> String {
    hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
