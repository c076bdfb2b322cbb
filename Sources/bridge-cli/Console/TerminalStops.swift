// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import CommandOutput
import Glibc

/// Signals of a terminal in raw mode: Ctrl-Z restores the terminal's settings for the shell, and a continued process
/// sets raw mode again.
enum TerminalStops {
  /// Watches the signals until the process ends. `resized` and `continued` are called on the I/O thread.
  static func watch(resized: @escaping @Sendable () -> Void = {}, continued: @escaping @Sendable () -> Void = {}) {
    _ = try? Signals([SIGWINCH, SIGTSTP, SIGCONT]) { signal in
      switch signal {
      case SIGWINCH: resized()
      case SIGTSTP:
        TerminalGuard.restore()
        Output.text("\n")
        kill(getpid(), SIGSTOP)
      default:
        TerminalGuard.makeRaw()
        continued()
      }
    }
  }
}
