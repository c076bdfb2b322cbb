// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import SystemPackage

/// Tells when the reader of a pipe or socket at standard output is gone, which else shows only at the next line.
package actor OutputEnd: EventHandler {
  private nonisolated let io: IOThread
  private let onEnd: @Sendable () -> Void
  private let descriptor: FileDescriptor
  private var token: EventToken?

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Calls `onEnd`, once, on the I/O thread; never where the output is something else, such as a terminal or a file. The
  /// output has to stay open for as long as this is kept.
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
    // No interest: the end is always told.
    token = try? io.watch(descriptor, for: [], handler: self)
  }

  /// Called by the loop.
  package nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.handle(readiness) } }

  private func handle(_ readiness: Readiness) {
    guard !readiness.isDisjoint(with: [.error, .hangUp]), let token else { return }
    io.unwatch(descriptor, token)
    self.token = nil
    onEnd()
  }
}
