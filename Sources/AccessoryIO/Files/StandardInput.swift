// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// What comes on standard input, be it a terminal, a pipe or a file. Read on the I/O thread when there is something, so
/// that no thread waits; its settings are left alone, as other programs share them.
package actor StandardInput: EventHandler {
  private nonisolated let io: IOThread
  private let body: @Sendable ([UInt8]) -> Void
  private var token: EventToken?
  private var isOver = false
  /// Where a descriptor that can't be waited for is read: a file.
  private nonisolated let queue = SetupQueue(label: "stdin")

  private static let descriptor = FileDescriptor.standardInput
  private static let piece = 4_096

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Calls `body` with what comes, a piece for every call of `resume`, and at the end with nothing.
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
      // epoll takes no files: these never make anybody wait.
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
    // An error is an end: a terminal that is gone says EIO.
    let count = buffer.withUnsafeMutableBytes { (try? SystemCall.read(descriptor, into: $0)) ?? 0 }
    return Array(buffer.prefix(count))
  }
}
