// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CommandOutput
import Glibc
import Synchronization

/// Ctrl-C and its like: the first cancels the command, which then closes what it has open; the second ends at once.
enum Interruption {
  static let signals = [SIGINT, SIGTERM, SIGHUP]

  private static let received = Atomic<CInt>(0)

  /// The signal that came, if one has.
  static var signal: CInt? {
    let signal = received.load(ordering: .relaxed)
    return signal == 0 ? nil : signal
  }

  private static let work = Locked<Task<CInt, Never>?>(nil)
  private static let outputEnd = Locked<OutputEnd?>(nil)

  /// From now on the command ends as with Ctrl-C when nobody reads its standard output any more, as in
  /// `bridge-cli watch | head -1`: for those that go on until they are told to end.
  static func endWithOutput() {
    guard outputEnd.withLock({ $0 == nil }) else { return }
    let end = OutputEnd {
      if received.compareExchange(expected: 0, desired: SIGPIPE, ordering: .relaxed).exchanged {
        work.withLock { $0 }?.cancel()
      }
    }
    outputEnd.withLock { $0 = end }
  }

  private static let hangUp = Locked<(@Sendable () -> Void)?>(nil)

  /// What a command does on SIGHUP instead of ending, until `end`.
  struct HangUp: Sendable {
    func end() { hangUp.withLock { $0 = nil } }
  }

  /// From now on `body` is called on SIGHUP, on the I/O thread, and the command goes on.
  static func onHangUp(_ body: @escaping @Sendable () -> Void) -> HangUp {
    hangUp.withLock { $0 = body }
    return HangUp()
  }

  static func cancel(_ work: Task<CInt, Never>) {
    Self.work.withLock { $0 = work }
    // Without a signalfd the signals stay blocked, and only SIGKILL would help: then let them have their way.
    let handler = try? Signals(signals) { signal in
      if signal == SIGHUP, let body = hangUp.withLock({ $0 }) { return body() }
      // The end of the output is no signal of a person's, who may still want to end it all at once with two.
      let before = received.exchange(signal, ordering: .relaxed)
      if before != 0, before != SIGPIPE {
        TerminalGuard.restoreEverything()
        WaitingLine.shared.willWrite()
        _exit(ExitStatus.of(signal: signal))
      }
      work.cancel()
    }
    if handler == nil {
      var set = sigset_t()
      sigemptyset(&set)
      pthread_sigmask(SIG_SETMASK, &set, nil)
    }
  }
}
