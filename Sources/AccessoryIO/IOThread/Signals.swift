// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import SystemPackage

/// Signals of this process, taken by the I/O thread from a signalfd.
public actor Signals: EventHandler {
  private nonisolated let io: IOThread
  private let descriptor: FileDescriptor
  private let body: @Sendable (CInt) -> Void
  private var token: EventToken?

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Keeps `signals` from doing what they do by default. Call this first of all, while the process has one thread:
  /// threads inherit it.
  public static func block(_ signals: [CInt]) {
    var set = set(of: signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Calls `body` on the I/O thread with the number of each of `signals` that comes; they must be blocked. Lasts for
  /// the life of the process. Throws the errno of signalfd(2).
  public init(_ signals: [CInt], io: IOThread = .shared, _ body: @escaping @Sendable (CInt) -> Void) throws(Errno) {
    self.io = io
    self.body = body
    var set = Self.set(of: signals)
    descriptor = FileDescriptor(
      rawValue: try SystemCall.run(.signalfd) { signalfd(-1, &set, CInt(SFD_CLOEXEC | SFD_NONBLOCK)) })
    io.post { self.assumeIsolated { $0.start() } }
  }

  private func start() { token = try? io.watch(descriptor, for: .read, handler: self) }

  /// Called by the loop.
  public nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.read() } }

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
