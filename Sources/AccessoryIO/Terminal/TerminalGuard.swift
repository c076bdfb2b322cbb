// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The settings of the guarded terminal, for signal handlers: a pointer to them as a number, 0 while there are none.
private let guardedSettings = Atomic<UInt>(0)

/// The terminal at which a person types, raw for a while, and put back whatever ends the program: its normal end, exit(3),
/// a trap or another fatal signal. Only SIGKILL leaves it as it is; then `stty sane` helps.
package enum TerminalGuard {
  private static let descriptor = STDIN_FILENO
  private static let fatal = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT]

  /// Whether a person types and looks on.
  package static var isThere: Bool { isatty(descriptor) == 1 && isatty(STDOUT_FILENO) == 1 }

  /// Makes the terminal raw: every key comes at once, and none is a signal. Lines that are written still begin at the
  /// left. False when it is no terminal.
  package static func begin() -> Bool {
    var settings = termios()
    guard guardedSettings.load(ordering: .acquiring) == 0, tcgetattr(descriptor, &settings) == 0 else { return false }
    // Never freed: a handler may look at any moment.
    let kept = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    kept.initialize(to: settings)
    guardedSettings.store(UInt(bitPattern: kept), ordering: .releasing)
    atexit { TerminalGuard.restore() }
    for signal in fatal {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { number in
        TerminalGuard.restore()
        Glibc.signal(number, SIG_DFL)
        raise(number)
      }
      sigaction(signal, &action, nil)
    }
    makeRaw()
    return true
  }

  /// Makes it raw again, as after a stop: a shell has put its own settings there meanwhile.
  package static func makeRaw() {
    guard let kept = UnsafePointer<termios>(bitPattern: guardedSettings.load(ordering: .acquiring)) else { return }
    var raw = kept.pointee
    cfmakeraw(&raw)
    // So that what others print (a warning, a shell's remark) is no staircase.
    raw.c_oflag |= tcflag_t(OPOST | ONLCR)
    tcsetattr(descriptor, TCSANOW, &raw)
  }

  /// Puts the terminal back as it was, if it is raw. May be called by a signal handler, and more than once.
  package static func restore() {
    guard let kept = UnsafePointer<termios>(bitPattern: guardedSettings.load(ordering: .acquiring)) else { return }
    tcsetattr(descriptor, TCSANOW, kept)
  }

  /// Throws away what was typed and not read yet.
  package static func discardInput() { tcflush(descriptor, TCIFLUSH) }

  /// Columns of the terminal at this moment.
  package static var columns: Int {
    var size = winsize()
    return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
