// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// Reads standard input: a terminal, a pipe or a file. It is read on the I/O thread when there is data, so no thread
/// waits. It isn't made non-blocking, because other programs may share it.
package actor StandardInput: EventHandler {
  private nonisolated let io: IOThread
  private let body: @Sendable ([UInt8]) -> Void
  private var token: EventToken?
  private var isOver = false
  /// The queue on which files are read, which epoll doesn't support.
  private nonisolated let queue = SetupQueue(label: "stdin")

  private static let descriptor = FileDescriptor.standardInput
  private static let piece = 4_096

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Calls `body` with the bytes of one read after each call of `resume`, and with an empty array at the end.
  package init(io: IOThread = .shared, _ body: @escaping @Sendable ([UInt8]) -> Void) {
    self.io = io
    self.body = body
  }

  /// Has the next piece read.
  package nonisolated func resume() { io.post { self.assumeIsolated { $0.watch() } } }

  private func watch() {
    guard token == nil, !isOver else { return }
    do throws(Errno) {
      token = try io.watch(Self.descriptor, for: .read, handler: self)
    } catch {
      // epoll refuses regular files, whose reads never wait.
      queue.post {
        let bytes = Self.read()
        self.io.post { self.assumeIsolated { $0.tell(bytes) } }
      }
    }
  }

  /// Called by the loop.
  package nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.take() } }

  private func take() {
    guard let token else { return }
    io.unwatch(Self.descriptor, token)
    self.token = nil
    tell(Self.read())
  }

  private func tell(_ bytes: [UInt8]) {
    if isOver { return }
    isOver = bytes.isEmpty
    body(bytes)
  }

  private static func read() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: piece)
    // Errors count as the end: reading a terminal that has gone fails with EIO.
    let count = buffer.withUnsafeMutableBytes { (try? SystemCall.read(descriptor, into: $0)) ?? 0 }
    return Array(buffer.prefix(count))
  }
}
