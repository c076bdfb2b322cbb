// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How large a terminal is at this moment, as it may change its size.
package enum TerminalSize {
  /// Columns of the terminal that a descriptor is, 80 where it doesn't know; nil when it is no terminal.
  package static func columns(of descriptor: CInt) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
    return size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
