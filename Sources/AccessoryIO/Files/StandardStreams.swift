// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// A transport over this process's standard input and output.
///
/// A separate thread writes standard output, and may block. Standard output stays blocking, because other programs may
/// share its open file description, and because it may be a regular file.
package final class StandardStreams: Transport {
  /// The constant "standard input and output".
  package let label = "standard input and output"
  /// Bytes take no time: there is no serial line.
  package let timing = LineTiming.instant
  /// The bytes from standard input.
  package let input = InputQueue()
  /// The bytes for standard output.
  package let output = OutputQueue(highWater: 65_536)

  private let io: IOThread
  private let writing = SetupQueue(label: "stdout")
  private let reader = Locked<StandardInput?>(nil)

  /// Starts to read standard input. A process may create only one.
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

  /// Writes everything that is queued. Blocks while the reader of standard output is slow.
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
          // Another process has made the shared descriptor non-blocking.
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

  /// Ends both directions. Writes what is queued for standard output for up to half a second, and drops the rest.
  package func close() async {
    output.seal()
    input.finish(nil)
    reader.withLock { $0 = nil }
    let deadline = io.now + .milliseconds(500)
    while output.queuedCount > 0, io.now < deadline { await io.sleep(for: .milliseconds(5)) }
    output.close(nil)
  }

  /// Starts `close()` without waiting for it.
  package func beginClose() { Task { await close() } }

  /// Does nothing, because standard streams belong to no device.
  package func deviceWasRemoved() {}
}
