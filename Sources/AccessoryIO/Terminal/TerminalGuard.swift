// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The address of the guarded terminal's settings, 0 while there are none; a number, because signal handlers read it.
private let guardedSettings = Atomic<UInt>(0)

/// The terminal at which a person types, raw for a while, and put back whatever ends the program: its normal end, exit(3),
/// a trap or another fatal signal. Only SIGKILL leaves it as it is; then `stty sane` helps. Accessories' lines that are
/// open are put back by the same signals.
package enum TerminalGuard {
  private static let descriptor = STDIN_FILENO
  private static let fatal = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT]
  private static let endings = [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM]

  /// Whether a person types and looks on.
  package static var isThere: Bool { isatty(descriptor) == 1 && isatty(STDOUT_FILENO) == 1 }

  /// Puts the terminal into raw mode: every key is delivered at once, and none makes a signal. Newlines in output still
  /// return the carriage. False when it is no terminal.
  package static func begin() -> Bool {
    var settings = termios()
    guard guardedSettings.load(ordering: .acquiring) == 0, tcgetattr(descriptor, &settings) == 0 else { return false }
    // Never freed: a signal handler may read it at any moment.
    let kept = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    kept.initialize(to: settings)
    guardedSettings.store(UInt(bitPattern: kept), ordering: .releasing)
    atexit { TerminalGuard.restore() }
    handle(fatal)
    makeRaw()
    return true
  }

  /// From now on a signal that ends this program restores the terminal and all open lines first. For a program's
  /// beginning: signals that it handles itself later, or is to ignore, are not concerned.
  package static func restoreOnSignals() {
    handle(fatal)
    handle(endings)
  }

  private static func handle(_ signals: [CInt]) {
    for signal in signals {
      var action = sigaction()
      sigaction(signal, nil, &action)
      let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
      if handler == isIgnored || handler == unsafeBitCast(restoreAndRaise, to: UInt.self) { continue }
      // What the runtime does on a crash, to print where it was, it does afterwards.
      if fatal.contains(signal) { previousActions[Int(signal)] = action }
      action = sigaction()
      action.__sigaction_handler.sa_handler = restoreAndRaise
      sigaction(signal, &action, nil)
    }
  }

  /// SIG_IGN of <signal.h>.
  private static let isIgnored: UInt = 1
  /// What was done before on each signal; 0 is SIG_DFL.
  // Unsafe: written to before the handler is installed that reads it.
  private nonisolated(unsafe) static let previousActions: UnsafeMutablePointer<sigaction> = {
    let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    actions.initialize(repeating: sigaction(), count: 65)
    return actions
  }()

  private static let restoreAndRaise: @convention(c) (CInt) -> Void = { number in
    TerminalGuard.restoreEverything()
    sigaction(number, TerminalGuard.previousActions + Int(number), nil)
    raise(number)
  }

  /// Restores the terminal and all open lines, for a program that ends now by _exit(2). May be called by a signal
  /// handler, and more than once; exit(3) does it by itself.
  package static func restoreEverything() {
    restore()
    OpenLines.putBackAll()
  }

  /// Makes it raw again, as after a stop: a shell has put its own settings there meanwhile.
  package static func makeRaw() {
    guard let kept = UnsafePointer<termios>(bitPattern: guardedSettings.load(ordering: .acquiring)) else { return }
    var raw = kept.pointee
    cfmakeraw(&raw)
    // So that what other programs print starts at the left margin.
    raw.c_oflag |= tcflag_t(OPOST | ONLCR)
    tcsetattr(descriptor, TCSANOW, &raw)
  }

  /// Restores the terminal's settings, if it is raw. May be called by a signal handler, and more than once.
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
