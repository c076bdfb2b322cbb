// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The size of a terminal when this value was created; it may change later.
package struct TerminalSize: Hashable, Sendable {
  /// Lines of text; 24 when the terminal doesn't report it.
  package let rows: Int
  /// Characters in a line; 80 when the terminal doesn't report it.
  package let columns: Int

  /// The size of the terminal at `descriptor`; nil when it isn't a terminal.
  package init?(of descriptor: CInt) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
    rows = size.ws_row > 0 ? Int(size.ws_row) : 24
    columns = size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// The columns of the terminal at `descriptor`; nil when it isn't a terminal.
  package static func columns(of descriptor: CInt) -> Int? { TerminalSize(of: descriptor)?.columns }
}
