// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The address of the saved settings, 0 when there are none. An integer, because signal handlers read it.
private let guardedSettings = Atomic<UInt>(0)

/// The address of the bytes that end a full screen, their number, and the descriptor of the terminal. Integers, because
/// signal handlers read them. The bytes are never deallocated.
private let screenEnd = Atomic<UInt>(0)
private let screenEndCount = Atomic<Int>(0)
private let screenDescriptor = Atomic<CInt>(-1)
/// Whether a full screen is shown.
private let isScreenShown = Atomic<Bool>(false)

/// The terminal at standard input. It can be in raw mode for a while, and its settings are restored however the program
/// ends: normally, by exit(3), by a trap or by another fatal signal. Only SIGKILL leaves it raw; then `stty sane`
/// helps. The same signals also restore the accessories' open lines.
package enum TerminalGuard {
  private static let descriptor = STDIN_FILENO
  private static let fatal = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT]
  private static let endings = [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM]

  /// Whether standard input and standard output are both terminals.
  package static var isThere: Bool { isatty(descriptor) == 1 && isatty(STDOUT_FILENO) == 1 }

  /// Puts the terminal into raw mode: every key is delivered at once, and no key raises a signal. Lines of output still
  /// start at the left margin. Returns false when standard input isn't a terminal, or when it is guarded already.
  package static func begin() -> Bool {
    var settings = termios()
    guard guardedSettings.load(ordering: .acquiring) == 0, tcgetattr(descriptor, &settings) == 0 else { return false }
    // Never deallocated: a signal handler may read it at any moment.
    let kept = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    kept.initialize(to: settings)
    guardedSettings.store(UInt(bitPattern: kept), ordering: .releasing)
    atexit { TerminalGuard.restore() }
    handle(fatal)
    makeRaw()
    return true
  }

  /// Makes signals that end this program restore the terminal and all open lines first. Call it when the program
  /// starts. Signals that the program handles itself later, or ignores, aren't affected.
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
      // Saves the previous action, because the runtime prints a backtrace on a crash. It runs after the terminal is
      // restored.
      if fatal.contains(signal) { previousActions[Int(signal)] = action }
      action = sigaction()
      action.__sigaction_handler.sa_handler = restoreAndRaise
      sigaction(signal, &action, nil)
    }
  }

  /// SIG_IGN of <signal.h>.
  private static let isIgnored: UInt = 1
  /// The previous action of each signal; zero is SIG_DFL.
  // Safe, although it isn't synchronized: it is written before the handler that reads it is installed.
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

  /// Restores the terminal and all open lines, for a program that is about to call _exit(2). A signal handler may call
  /// it, and more than once. exit(3) does the same by itself.
  package static func restoreEverything() {
    restore()
    OpenLines.putBackAll()
  }

  /// Makes the terminal raw again after the program was stopped and continued: the shell has applied its own settings
  /// meanwhile.
  package static func makeRaw() {
    guard let kept = UnsafePointer<termios>(bitPattern: guardedSettings.load(ordering: .acquiring)) else { return }
    var raw = kept.pointee
    cfmakeraw(&raw)
    // Lines that other programs write still start at the left margin.
    raw.c_oflag |= tcflag_t(OPOST | ONLCR)
    tcsetattr(descriptor, TCSANOW, &raw)
  }

  /// From now on `restore` writes `end` to the terminal first, once after each call of this function: the sequences that end
  /// a full screen. `descriptor` is a terminal's; with O_NONBLOCK, a terminal that takes nothing doesn't stop the program.
  package static func screenBegins(_ descriptor: CInt, end: String) {
    let bytes = Array(end.utf8)
    let kept = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
    kept.initialize(from: bytes, count: bytes.count)
    screenEndCount.store(bytes.count, ordering: .relaxed)
    screenDescriptor.store(descriptor, ordering: .relaxed)
    screenEnd.store(UInt(bitPattern: kept), ordering: .releasing)
    isScreenShown.store(true, ordering: .releasing)
  }

  /// Ends the full screen. A signal handler may call this: it uses only write(2) and tcflush(3).
  private static func endScreen() {
    guard isScreenShown.exchange(false, ordering: .acquiringAndReleasing),
      let bytes = UnsafePointer<UInt8>(bitPattern: screenEnd.load(ordering: .acquiring))
    else { return }
    let (descriptor, count) = (screenDescriptor.load(ordering: .relaxed), screenEndCount.load(ordering: .relaxed))
    var (written, tries) = (0, 0)
    while written < count, tries < 4 {
      let result = write(descriptor, bytes + written, count - written)
      if result > 0 {
        written += result
        continue
      }
      tries += 1
      // The terminal's buffer is full: what waits in it belongs to the screen that ends.
      if errno == EAGAIN { tcflush(descriptor, TCOFLUSH) } else if errno != EINTR { return }
    }
  }

  /// Restores the terminal's settings and ends a full screen, if it is raw. A signal handler may call this, and more than
  /// once.
  package static func restore() {
    endScreen()
    guard let kept = UnsafePointer<termios>(bitPattern: guardedSettings.load(ordering: .acquiring)) else { return }
    tcsetattr(descriptor, TCSANOW, kept)
  }

  /// Discards typed bytes that weren't read yet.
  package static func discardInput() { tcflush(descriptor, TCIFLUSH) }
}
