// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import CommandOutput
import Glibc

/// What happens to a terminal at which a person types: a stop gives it back to the shell, and what follows takes it again.
enum TerminalStops {
  /// From now on to the end of the process. `resized` and `continued` are called on the I/O thread.
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
