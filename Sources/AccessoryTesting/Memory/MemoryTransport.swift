// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A transport without a device: the test is the device.
public final class MemoryTransport: Transport {
  private struct State: Sendable {
    var written: [UInt8] = []
    var isStalled = false
    var isPaused = false
    var closeCount = 0
    var isOver = false
  }

  /// "memory", unless said otherwise.
  public let label: String
  /// That of the line, if there is one; none, unless said otherwise.
  public var timing: LineTiming { memoryLine?.timing ?? fixedTiming }
  /// The line beside the bytes, if the test gave it one.
  public var line: (any LineControl)? { memoryLine }
  /// What the test pushed.
  public let input: InputQueue
  /// What the test sees.
  public let output: OutputQueue

  private let fixedTiming: LineTiming
  private let memoryLine: MemoryLine?
  private let state = Watched(State())
  private let onWritten: (@Sendable (MemoryTransport, [UInt8]) -> Void)?
  private let onEnd: (@Sendable (AccessoryError?) -> Void)?

  /// A transport whose device takes all that is written, at once and on the writer's thread. `onWritten` is told of
  /// each piece, and may answer by `receive`; `onEnd` is told once, when the transport ends, why: nil for a close.
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

  // MARK: - What the device sends

  /// The device sends `bytes`. False when a real transport would stop reading now.
  @discardableResult
  public func receive(_ bytes: [UInt8]) -> Bool {
    state.update { $0.isPaused = true }  // until it is known better: the consumer may ask to go on at once
    let wantsMore = input.append(bytes.span.bytes)
    if wantsMore { state.update { $0.isPaused = false } }
    return wantsMore
  }

  /// True while the consumer is behind and a real transport would not read.
  public var isPaused: Bool { state.value.isPaused }

  /// Waits until the consumer lets a paused transport go on.
  public func waitForResume() async throws { try await state.wait { !$0.isPaused } }

  // MARK: - What the device takes

  private func takeOutput() {
    var bytes: [UInt8] = []
    while !state.value.isStalled, output.take(into: &bytes) {
      let taken = bytes
      state.update { $0.written += taken }
      output.wrote(taken.count)
      onWritten?(self, taken)
    }
  }

  /// From now on the device takes nothing.
  public func stall() { state.update { $0.isStalled = true } }

  /// The device takes again, beginning with what waits.
  public func unstall() {
    state.update { $0.isStalled = false }
    takeOutput()
  }

  /// All bytes written and not fetched by `nextWritten`.
  public var written: [UInt8] { state.value.written }

  /// Waits for `count` bytes to be written, and takes them out.
  public func nextWritten(_ count: Int) async throws -> [UInt8] {
    try await state.wait { $0.written.count >= count }
    return state.update { state in
      let bytes = Array(state.written.prefix(count))
      state.written.removeFirst(bytes.count)
      return bytes
    }
  }

  // MARK: - The end

  /// The device goes: nil for a close by the owner, otherwise why.
  public func end(_ error: AccessoryError?) {
    memoryLine?.end(error ?? .closed(label))
    let isFirst = state.update { state in
      defer { state.isOver = true }
      return !state.isOver
    }
    output.close(error)
    input.finish(error)
    if isFirst { onEnd?(error) }
  }

  /// The device is unplugged.
  public func unplug() { end(.disconnected(label)) }

  /// How often the owner asked to close.
  public var closeCount: Int { state.value.closeCount }

  /// Waits until the owner has asked to close.
  public func waitForClose() async throws { try await state.wait { $0.closeCount > 0 } }

  /// Ends both queues normally.
  public func close() async { beginClose() }

  /// Ends both queues normally.
  public func beginClose() {
    state.update { $0.closeCount += 1 }
    end(nil)
  }

  /// Ends both queues with `disconnected`.
  public func deviceWasRemoved() { end(.disconnected(label)) }
}
