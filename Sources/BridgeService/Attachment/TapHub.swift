// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryIO

/// Shows what passes a device to any number of listeners; it stays when the device is opened anew. A listener that
/// doesn't keep up loses the newest, and is told how much; it holds nobody up.
final class TapHub: TransportTap {
  /// Pieces that a listener may be behind.
  private static let pieceLimit = 4_096
  /// Bytes that a listener may be behind.
  private static let byteLimit = 1 << 20

  /// One listener's place. Its lock is the only thing that the I/O thread ever waits for.
  final class Listener: Sendable {
    private struct State {
      var pieces: [Bridge.TracePiece] = []
      var byteCount = 0
      var lostBytes = 0
      var hasEnded = false
      var wake: AsyncStream<Void>.Continuation?
    }

    private let state = Locked(State())
    /// Yields when there is something to take after nothing was; ends with the hub.
    let signals: AsyncStream<Void>

    init() {
      let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
      self.signals = signals
      state.withLock { $0.wake = continuation }
    }

    func add(_ direction: ByteDirection, _ bytes: UnsafeRawBufferPointer, at time: MonotonicTime) {
      let wake = state.withLock { state -> AsyncStream<Void>.Continuation? in
        guard state.pieces.count < TapHub.pieceLimit, state.byteCount + bytes.count <= TapHub.byteLimit else {
          state.lostBytes += bytes.count
          return nil
        }
        let lost = state.lostBytes
        state.lostBytes = 0
        state.pieces.append(
          Bridge.TracePiece(
            time: Double(time.nanoseconds) / 1e9, direction: direction, bytes: Array(bytes),
            lost_bytes: lost == 0 ? nil : lost))
        state.byteCount += bytes.count
        return state.pieces.count == 1 ? state.wake : nil
      }
      wake?.yield()
    }

    func take() -> [Bridge.TracePiece] {
      state.withLock { state in
        defer { (state.pieces, state.byteCount) = ([], 0) }
        return state.pieces
      }
    }

    func end() {
      let wake = state.withLock { $0.wake }
      wake?.finish()
    }
  }

  private struct State {
    var listeners: [Int: Listener] = [:]
    var next = 0
    var hasEnded = false
  }

  private let clock: any TimerClock
  private let state = Locked(State())

  init(clock: any TimerClock) { self.clock = clock }

  /// Called by the transport.
  func passed(_ direction: ByteDirection, _ bytes: UnsafeRawBufferPointer) {
    let listeners = state.withLock { $0.listeners.isEmpty ? [] : Array($0.listeners.values) }
    guard !listeners.isEmpty else { return }
    let now = clock.now
    for listener in listeners { listener.add(direction, bytes, at: now) }
  }

  /// A listener, and the way to take it away.
  func listen() -> (listener: Listener, stop: @Sendable () -> Void) {
    let listener = Listener()
    let key = state.withLock { state -> Int? in
      guard !state.hasEnded else { return nil }
      state.next += 1
      state.listeners[state.next] = listener
      return state.next
    }
    guard let key else {
      listener.end()
      return (listener, {})
    }
    return (listener, { [self] in _ = state.withLock { $0.listeners.removeValue(forKey: key) } })
  }

  /// The attachment is over.
  func end() {
    let listeners = state.withLock { state in
      state.hasEnded = true
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.end() }
  }
}
