// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Colour, where somebody sees it: on a terminal that can do it, unless NO_COLOR is set (no-color.org).
struct Style {
  static let standardOutput = Style(STDOUT_FILENO)
  static let standardError = Style(STDERR_FILENO)

  /// Whether a person looks at it.
  let isTerminal: Bool
  private let hasColour: Bool

  private init(_ descriptor: CInt) {
    isTerminal = isatty(descriptor) == 1
    let noColour = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
    let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
    hasColour = isTerminal && !noColour && !isDumb
  }

  func bold(_ text: String) -> String { paint(text, "1") }
  func dim(_ text: String) -> String { paint(text, "2") }
  func red(_ text: String) -> String { paint(text, "31") }
  func green(_ text: String) -> String { paint(text, "32") }
  func yellow(_ text: String) -> String { paint(text, "33") }

  /// A text with these parameters of a terminal's SGR sequence.
  func paint(_ text: String, _ code: String) -> String {
    hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
