// SPDX-License-Identifier: Apache-2.0

/// A transport without a device, like a port whose two data pins are connected: it receives what is written to it.
///
/// It has back-pressure: while the consumer doesn't read, the output becomes full.
public actor LoopbackTransport: Transport, IOWork {
  /// The name given at creation; "loop-back" by default.
  public nonisolated let label: String
  /// Bytes take no time: there is no serial line.
  public nonisolated let timing = LineTiming.instant
  /// The bytes that were written.
  public nonisolated let input = InputQueue()
  /// The bytes to write.
  public nonisolated let output = OutputQueue()

  private nonisolated let io: IOThread
  private var buffer: [UInt8] = []
  private var isPaused = false

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A loop on the I/O thread `io`.
  public init(label: String = "loop-back", io: IOThread = .shared) {
    self.label = label
    self.io = io
    connect()
  }

  private nonisolated func connect() {
    output.onQueued { [weak self, io] in if let self { io.post(self) } }
    input.onResume { [weak self, io] in
      guard let self else { return }
      io.post { self.assumeIsolated { $0.resume() } }
    }
  }

  /// The I/O thread calls this when there are bytes to move.
  package nonisolated func perform() { assumeIsolated { $0.pass() } }

  private func pass() {
    while !isPaused, output.take(into: &buffer) {
      isPaused = !input.append(buffer.span.bytes)
      output.wrote(buffer.count)
    }
  }

  private func resume() {
    isPaused = false
    pass()
  }

  /// Ends both directions.
  public func close() {
    output.close(nil)
    input.finish(nil)
  }

  /// Starts `close()` without waiting for it.
  public nonisolated func beginClose() { io.post { self.assumeIsolated { $0.close() } } }

  /// Ends both directions with `disconnected`, for tests of a removal.
  public nonisolated func deviceWasRemoved() {
    io.post {
      self.assumeIsolated {
        $0.output.close(.disconnected($0.label))
        $0.input.finish(.disconnected($0.label))
      }
    }
  }
}
