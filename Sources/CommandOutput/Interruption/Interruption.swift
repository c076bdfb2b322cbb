// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import Synchronization
import SystemPackage

/// Interruption by SIGINT, SIGTERM or SIGHUP: the first signal cancels the command, which then closes what it has open;
/// the second ends the process at once.
package enum Interruption {
  /// The signals that interrupt a command.
  package static let signals = [SIGINT, SIGTERM, SIGHUP]

  private static let received = Atomic<CInt>(0)

  /// The signal that was received, if one was.
  package static var signal: CInt? {
    let signal = received.load(ordering: .relaxed)
    return signal == 0 ? nil : signal
  }

  private static let work = Locked<Task<CInt, Never>?>(nil)
  private static let outputEnd = Locked<OutputEnd?>(nil)

  /// From now on the command ends as if by Ctrl-C when the reader of its standard output is gone, as in `bridge-cli watch | head -1`.
  /// For commands that run until they are interrupted.
  package static func endWithOutput() {
    guard outputEnd.withLock({ $0 == nil }) else { return }
    let end = OutputEnd {
      if received.compareExchange(expected: 0, desired: SIGPIPE, ordering: .relaxed).exchanged { interrupt() }
    }
    outputEnd.withLock { $0 = end }
  }

  /// The writing ends of pipes that wake up threads in `waitUntilReadable`.
  private static let sleepers = Locked<Set<CInt>>([])

  private static func interrupt() {
    work.withLock { $0 }?.cancel()
    sleepers.withLock { for end in $0 { _ = Glibc.write(end, "!", 1) } }
  }

  /// Blocks until a pipe or a terminal has bytes or its other end is closed. Throws `cancelled` if the command is interrupted in the
  /// meantime: a thread that blocks in a system call doesn't notice an interruption by itself.
  package static func waitUntilReadable(_ descriptor: CInt, _ name: String) throws(AccessoryError) {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "reading \(name)") }
    sleepers.withLock { _ = $0.insert(ends[1]) }
    defer {
      sleepers.withLock { _ = $0.remove(ends[1]) }
      for end in ends { close(end) }
    }
    var ready = [
      pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0),
      pollfd(fd: ends[0], events: CShort(POLLIN), revents: 0),
    ]
    while signal == nil, poll(&ready, 2, -1) < 0, errno == EINTR {}
    if signal != nil { throw AccessoryError(.cancelled, "reading \(name) was interrupted") }
  }

  /// In a structure: a closure by itself in a generic value is wrapped once more at each access.
  private struct Handler: Sendable { var body: (@Sendable () -> Void)? }
  private static let hangUp = Locked(Handler())

  /// A handler of SIGHUP that keeps the command running, until `end`.
  package struct HangUp: Sendable {
    /// From now on SIGHUP interrupts the command again.
    package func end() { hangUp.withLock { $0.body = nil } }
  }

  /// From now on SIGHUP calls `body` on the I/O thread instead of ending the command.
  package static func onHangUp(_ body: @escaping @Sendable () -> Void) -> HangUp {
    hangUp.withLock { $0.body = body }
    return HangUp()
  }

  /// From now on the signals cancel `work`.
  package static func cancel(_ work: Task<CInt, Never>) {
    Self.work.withLock { $0 = work }
    // Without a signalfd only SIGKILL could end the process, because the signals are blocked. So they are unblocked below.
    let handler = try? Signals(signals) { signal in
      if signal == SIGHUP, let body = hangUp.withLock({ $0.body }) { return body() }
      // A closed output doesn't count as the first of the two signals, since no person has sent it.
      let before = received.exchange(signal, ordering: .relaxed)
      if before != 0, before != SIGPIPE {
        TerminalGuard.restoreEverything()
        WaitingLine.shared.willWrite()
        _exit(ExitStatus.of(signal: signal))
      }
      interrupt()
    }
    if handler == nil {
      var set = sigset_t()
      sigemptyset(&set)
      pthread_sigmask(SIG_SETMASK, &set, nil)
    }
  }
}
