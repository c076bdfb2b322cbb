// SPDX-License-Identifier: Apache-2.0

/// A transport without a device, like a port whose two data pins are joined: what is written comes back.
///
/// Back-pressure works, too: when the consumer doesn't read, the output becomes full.
public actor LoopbackTransport: Transport, IOWork {
  /// "loop-back", unless said otherwise.
  public nonisolated let label: String
  /// No line.
  public nonisolated let timing = LineTiming.instant
  /// What was written.
  public nonisolated let input = InputQueue()
  /// What is to come back.
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

  /// Called by the loop when there is something to pass.
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

  /// As `close()`, without waiting.
  public nonisolated func beginClose() { io.post { self.assumeIsolated { $0.close() } } }

  /// Ends both directions with `disconnected`, for tests of what happens then.
  public nonisolated func deviceWasRemoved() {
    io.post {
      self.assumeIsolated {
        $0.output.close(.disconnected($0.label))
        $0.input.finish(.disconnected($0.label))
      }
    }
  }
}
