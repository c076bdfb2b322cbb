// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import Synchronization
import SystemPackage

/// The thread id (gettid(2)) that signals are forwarded to. A global, because a signal handler reads it.
private let receivingThread = Atomic<CInt>(0)

/// Handles signals of this process on the I/O thread, which reads them from a signalfd.
///
/// A signalfd only gets signals that every thread blocks, and a program can't ensure that: in an asynchronous `main`,
/// the runtime lets the main thread wait with no signal blocked. So this also installs a signal handler, which runs on
/// threads that don't block the signal. It forwards the signal to the I/O thread, which blocks it.
package actor Signals: EventHandler {
  private nonisolated let io: IOThread
  private let descriptor: FileDescriptor
  private let body: @Sendable (CInt) -> Void

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Blocks `signals` in the calling thread and in the threads that it starts later. Call it first in a program that
  /// these signals must not end before its `Signals` exists.
  package static func block(_ signals: [CInt]) {
    var set = set(of: signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Calls `body` on the I/O thread with the number of each signal of `signals` that arrives; the signal's default
  /// action is disabled. Lasts for the life of the process; programs that it starts are not affected. Throws the errno
  /// of signalfd(2) or epoll_ctl(2), and then has changed nothing.
  package init(_ signals: [CInt], io: IOThread = .shared, _ body: @escaping @Sendable (CInt) -> Void) throws(Errno) {
    self.io = io
    self.body = body
    var set = Self.set(of: signals)
    descriptor = FileDescriptor(
      rawValue: try SystemCall.run(.signalfd) { signalfd(-1, &set, CInt(SFD_CLOEXEC | SFD_NONBLOCK)) })
    do throws(Errno) {
      _ = try io.watch(descriptor, for: .read, handler: self)
    } catch {
      SystemCall.close(descriptor)
      throw error
    }
    io.post { self.assumeIsolated { $0.start(signals) } }
  }

  private func start(_ signals: [CInt]) {
    Self.block(signals)
    receivingThread.store(shim_gettid(), ordering: .sequentiallyConsistent)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { number in
      let saved = errno
      _ = shim_tgkill(receivingThread.load(ordering: .relaxed), number)
      errno = saved
    }
    action.sa_flags = SA_RESTART
    for signal in signals { sigaction(signal, &action, nil) }
  }

  /// The I/O thread calls this when the signalfd is readable.
  package nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.read() } }

  private func read() {
    var information = signalfd_siginfo()
    let count = withUnsafeMutableBytes(of: &information) { try? SystemCall.read(descriptor, into: $0) }
    if count == MemoryLayout<signalfd_siginfo>.size { body(CInt(information.ssi_signo)) }
  }

  private static func set(of signals: [CInt]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    return set
  }
}
