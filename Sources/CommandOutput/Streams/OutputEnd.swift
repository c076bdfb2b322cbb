// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import SystemPackage

/// Reports when the reader of a pipe or socket at standard output is gone. Without it a command notices only at its
/// next line.
package actor OutputEnd: EventHandler {
  private nonisolated let io: IOThread
  private let onEnd: @Sendable () -> Void
  private let descriptor: FileDescriptor
  private var token: EventToken?

  /// The I/O thread, which runs this actor.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Calls `onEnd` once, on the I/O thread, when the reader is gone. It is never called for a terminal or a file. The
  /// output must stay open while this object exists.
  package init(
    of output: FileDescriptor = FileDescriptor(rawValue: STDOUT_FILENO), io: IOThread = .shared,
    _ onEnd: @escaping @Sendable () -> Void
  ) {
    descriptor = output
    self.io = io
    self.onEnd = onEnd
    io.post { self.assumeIsolated { $0.start() } }
  }

  private func start() {
    var facts = stat()
    guard fstat(descriptor.rawValue, &facts) == 0, [S_IFIFO, S_IFSOCK].contains(facts.st_mode & S_IFMT) else { return }
    // epoll reports errors and hang-ups even without requested events.
    token = try? io.watch(descriptor, for: [], handler: self)
  }

  /// Called on the I/O thread.
  package nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.handle(readiness) } }

  private func handle(_ readiness: Readiness) {
    guard !readiness.isDisjoint(with: [.error, .hangUp]), let token else { return }
    io.unwatch(descriptor, token)
    self.token = nil
    onEnd()
  }
}
