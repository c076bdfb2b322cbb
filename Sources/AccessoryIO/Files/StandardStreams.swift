// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// A transport over this process's standard input and output.
///
/// Standard output is written on a thread of its own, which may wait: it may be a file or share its settings with other
/// programs, so it is never made non-blocking.
package final class StandardStreams: Transport {
  /// "standard input and output".
  package let label = "standard input and output"
  /// No line.
  package let timing = LineTiming.instant
  /// What comes on standard input.
  package let input = InputQueue()
  /// What is to go to standard output.
  package let output = OutputQueue(highWater: 65_536)

  private let io: IOThread
  private let writing = SetupQueue(label: "stdout")
  private let reader = Locked<StandardInput?>(nil)

  /// Starts to read. There can be only one in a process.
  package init(io: IOThread = .shared) {
    self.io = io
    let source = StandardInput(io: io) { [weak self] in self?.take($0) }
    reader.withLock { $0 = source }
    input.onResume { source.resume() }
    output.onQueued { [writing, output, input] in writing.post { Self.write(output, input) } }
    source.resume()
  }

  private func take(_ bytes: [UInt8]) {
    if bytes.isEmpty { return input.finish(nil) }
    if input.append(bytes.span.bytes) { reader.withLock { $0 }?.resume() }
  }

  /// Writes everything that is queued. Waits while the reader of standard output is slow.
  private static func write(_ output: OutputQueue, _ input: InputQueue) {
    var buffer: [UInt8] = []
    while output.take(into: &buffer) {
      var rest = buffer[...]
      while !rest.isEmpty {
        let result: Result<Int, Errno> = rest.withUnsafeBytes { bytes in
          Result { () throws(Errno) in
            try SystemCall.runLong(.write, on: STDOUT_FILENO) {
              Glibc.write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
            }
          }
        }
        switch result {
        case .success(let count):
          rest = rest.dropFirst(count)
          output.wrote(count)
        case .failure(.wouldBlock):
          // Somebody else has made it non-blocking.
          var ready = pollfd(fd: STDOUT_FILENO, events: CShort(POLLOUT), revents: 0)
          poll(&ready, 1, -1)
        case .failure(let error):
          let failure = AccessoryError(errno: error, "writing to standard output")
          output.close(failure)
          return input.finish(failure)
        }
      }
    }
  }

  /// Ends both directions. What waits for standard output still goes there, if it takes it within half a second.
  package func close() async {
    output.seal()
    input.finish(nil)
    reader.withLock { $0 = nil }
    let deadline = io.now + .milliseconds(500)
    while output.queuedCount > 0, io.now < deadline { await io.sleep(for: .milliseconds(5)) }
    output.close(nil)
  }

  /// As `close()`, without waiting.
  package func beginClose() { Task { await close() } }

  /// There is no device.
  package func deviceWasRemoved() {}
}
