// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// Reads standard input: a terminal, a pipe or a file. A pipe or terminal is read on the I/O thread when it has data,
/// so no thread waits. The descriptor stays blocking, because other programs may share its open file description.
package actor StandardInput: EventHandler {
  private nonisolated let io: IOThread
  private let body: @Sendable ([UInt8]) -> Void
  private var token: EventToken?
  private var isOver = false
  /// The queue on which regular files are read, because epoll doesn't support them.
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

  /// Requests the next read.
  package nonisolated func resume() { io.post { self.assumeIsolated { $0.watch() } } }

  private func watch() {
    guard token == nil, !isOver else { return }
    do throws(Errno) {
      token = try io.watch(Self.descriptor, for: .read, handler: self)
    } catch {
      // epoll refuses regular files. Reading them doesn't wait for another program.
      queue.post {
        let bytes = Self.read()
        self.io.post { self.assumeIsolated { $0.tell(bytes) } }
      }
    }
  }

  /// The I/O thread calls this when standard input is readable.
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
    // An error counts as the end of input: reading a terminal that was hung up fails with EIO.
    let count = buffer.withUnsafeMutableBytes { (try? SystemCall.read(descriptor, into: $0)) ?? 0 }
    return Array(buffer.prefix(count))
  }
}
