// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Colour, on terminals that can show it, unless NO_COLOR is set (no-color.org).
package struct Style: Sendable {
  package static let standardOutput = Style(STDOUT_FILENO)
  package static let standardError = Style(STDERR_FILENO)

  /// Whether the output is a terminal.
  package let isTerminal: Bool
  private let hasColour: Bool

  /// A style with the given properties.
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

  /// Whether colours are shown.
  package var showsColour: Bool { hasColour }

  package func bold(_ text: String) -> String { paint(text, "1") }
  /// Dimmed text, for additions to the result.
  package func dim(_ text: String) -> String { paint(text, "2") }
  /// Red text, for errors.
  package func red(_ text: String) -> String { paint(text, "31") }
  /// Green text, for good states.
  package func green(_ text: String) -> String { paint(text, "32") }
  /// Yellow text, for states in between.
  package func yellow(_ text: String) -> String { paint(text, "33") }

  /// `text` in the colour of `code`, the parameters of a terminal's SGR sequence.
  package func paint(_ text: String, _ code: String) -> String {
    hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
