// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A transport without a device: the test plays the device.
public final class MemoryTransport: Transport {
  private struct State: Sendable {
    var written: [UInt8] = []
    var isStalled = false
    var isPaused = false
    var closeCount = 0
    /// Why it is over; nil while it isn't.
    var end: AccessoryError?
  }

  /// The name in error messages.
  public let label: String
  /// The timing of the line, if there is one; otherwise the timing that was given to `init`.
  public var timing: LineTiming { memoryLine?.timing ?? fixedTiming }
  /// The controls of the serial line; nil unless the test passed a line.
  public var line: (any LineControl)? { memoryLine }
  /// Bytes that the test has sent by `receive`.
  public let input: InputQueue
  /// Bytes that the transport's owner has written and the device hasn't taken.
  public let output: OutputQueue

  private let fixedTiming: LineTiming
  private let memoryLine: MemoryLine?
  private let state = Watched(State())
  private let onWritten: (@Sendable (MemoryTransport, [UInt8]) -> Void)?
  private let onEnd: (@Sendable (AccessoryError?) -> Void)?

  /// A transport whose device takes all written bytes at once, on the writer's thread. `onWritten` is called with each
  /// piece, and may answer by `receive`. `onEnd` is called once, when the transport ends: with nil after a close,
  /// otherwise with the error.
  public init(
    label: String = "memory", timing: LineTiming = .instant, line: MemoryLine? = nil, inputHighWater: Int = 65_536,
    outputHighWater: Int = 16_384, onWritten: (@Sendable (MemoryTransport, [UInt8]) -> Void)? = nil,
    onEnd: (@Sendable (AccessoryError?) -> Void)? = nil
  ) {
    self.label = label
    fixedTiming = timing
    memoryLine = line
    self.onWritten = onWritten
    self.onEnd = onEnd
    input = InputQueue(highWater: inputHighWater)
    output = OutputQueue(highWater: outputHighWater)
    input.onResume { [state] in state.update { $0.isPaused = false } }
    output.onQueued { [weak self] in self?.takeOutput() }
  }

  // MARK: - Bytes from the device

  /// Makes the device send `bytes`. Returns false when a real transport would stop reading now.
  @discardableResult
  public func receive(_ bytes: [UInt8]) -> Bool {
    state.update { $0.isPaused = true }  // set first, since the consumer may resume before `append` returns
    let wantsMore = input.append(bytes.span.bytes)
    if wantsMore { state.update { $0.isPaused = false } }
    return wantsMore
  }

  /// True while the consumer is behind, so that a real transport would not read.
  public var isPaused: Bool { state.value.isPaused }

  /// Waits until the consumer resumes a paused transport. Throws `CancellationError` when the task is cancelled, and the error with
  /// which the transport ends; `cancelled` after a close.
  public func waitForResume() async throws {
    let last = try await state.wait { !$0.isPaused || $0.end != nil }
    if last.isPaused, let end = last.end { throw end }
  }

  // MARK: - Bytes to the device

  private func takeOutput() {
    var bytes: [UInt8] = []
    while !state.value.isStalled, output.take(into: &bytes) {
      let taken = bytes
      state.update { $0.written += taken }
      output.wrote(taken.count)
      onWritten?(self, taken)
    }
  }

  /// The device takes no more bytes until `unstall` is called.
  public func stall() { state.update { $0.isStalled = true } }

  /// The device takes bytes again, beginning with the queued ones.
  public func unstall() {
    state.update { $0.isStalled = false }
    takeOutput()
  }

  /// All written bytes that `nextWritten` has not returned.
  public var written: [UInt8] { state.value.written }

  /// Waits until `count` bytes were written, removes them from `written` and returns them. Throws what `waitForResume` throws.
  public func nextWritten(_ count: Int) async throws -> [UInt8] {
    let last = try await state.wait { $0.written.count >= count || $0.end != nil }
    if last.written.count < count, let end = last.end { throw end }
    return state.update { state in
      let bytes = Array(state.written.prefix(count))
      state.written.removeFirst(bytes.count)
      return bytes
    }
  }

  // MARK: - End

  /// Ends the transport: with nil as after a close by the owner, otherwise with this error.
  public func end(_ error: AccessoryError?) {
    let end = error ?? .closed(label)
    memoryLine?.end(end)
    let isFirst = state.update { state in
      defer { state.end = state.end ?? end }
      return state.end == nil
    }
    output.close(error)
    input.finish(error)
    if isFirst { onEnd?(error) }
  }

  /// Unplugs the device.
  public func unplug() { end(.disconnected(label)) }

  /// How often the owner has asked to close the transport.
  public var closeCount: Int { state.value.closeCount }

  /// Waits until the owner has asked to close the transport. Throws `CancellationError` when the task is cancelled.
  public func waitForClose() async throws { try await state.wait { $0.closeCount > 0 } }

  /// Ends both queues without an error.
  public func close() async { beginClose() }

  /// Ends both queues without an error.
  public func beginClose() {
    state.update { $0.closeCount += 1 }
    end(nil)
  }

  /// Ends both queues with the error `disconnected`.
  public func deviceWasRemoved() { end(.disconnected(label)) }
}
