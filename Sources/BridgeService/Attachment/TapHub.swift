// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Passes a device's traffic to any number of listeners, also after the device is reopened. A slow listener loses the
/// newest bytes and learns how many; it never delays others.
final class TapHub: TransportTap {
  /// The most pieces that are buffered for a listener.
  private static let pieceLimit = 1_024
  /// The most bytes that are buffered for a listener. As many again may be on their way to its client.
  private static let byteLimit = 1 << 18

  /// Bytes that a transport passed at once.
  struct Piece: Sendable {
    let time: MonotonicTime
    let direction: ByteDirection
    let bytes: [UInt8]
    /// The number of bytes, in both directions, that were dropped before this piece.
    let lostBytes: Int
    /// An event of the connection; nil for bytes.
    var note: String?
  }

  /// The buffer of one listener. The I/O thread waits for no other lock here than this buffer's.
  final class Listener: Sendable {
    private struct State {
      var pieces: [Piece] = []
      var byteCount = 0
      var lostBytes = 0
      var wake: AsyncStream<Void>.Continuation?
    }

    private let state = Locked(State())
    /// Yields when the buffer is no longer empty; ends when the hub ends.
    let signals: AsyncStream<Void>

    init() {
      let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
      self.signals = signals
      state.withLock { $0.wake = continuation }
    }

    func add(_ direction: ByteDirection, _ bytes: [UInt8], note: String? = nil, at time: MonotonicTime) {
      let wake = state.withLock { state -> AsyncStream<Void>.Continuation? in
        // An empty buffer accepts a piece of any length.
        let fits =
          state.pieces.isEmpty
          || state.pieces.count < TapHub.pieceLimit && bytes.count <= TapHub.byteLimit - state.byteCount
        guard fits else {
          let (sum, isTooMuch) = state.lostBytes.addingReportingOverflow(bytes.count)
          state.lostBytes = isTooMuch ? .max : sum
          return nil
        }
        state.pieces.append(
          Piece(time: time, direction: direction, bytes: bytes, lostBytes: state.lostBytes, note: note))
        state.lostBytes = 0
        state.byteCount += bytes.count
        return state.pieces.count == 1 ? state.wake : nil
      }
      wake?.yield()
    }

    func take() -> [Piece] {
      state.withLock { state in
        defer { (state.pieces, state.byteCount) = ([], 0) }
        return state.pieces
      }
    }

    /// The number of bytes dropped after the last piece; for the end of the trace.
    func takeLoss() -> Int {
      state.withLock { state in
        defer { state.lostBytes = 0 }
        return state.lostBytes
      }
    }

    func end() {
      let wake = state.withLock { $0.wake }
      wake?.finish()
    }
  }

  private struct State {
    var listeners: [Int: Listener] = [:]
    /// Closures that get the device's bytes at once, on the I/O thread.
    var hearers: [Int: @Sendable ([UInt8]) -> Void] = [:]
    var next = 0
    var hasEnded = false
  }

  private let clock: any TimerClock
  private let state = Locked(State())

  init(clock: any TimerClock) { self.clock = clock }

  /// Called by the transport on the I/O thread.
  func passed(_ direction: ByteDirection, _ bytes: RawSpan) {
    let (listeners, hearers) = state.withLock { state in
      (
        state.listeners.isEmpty ? [] : Array(state.listeners.values),
        state.hearers.isEmpty || direction == .toDevice ? [] : Array(state.hearers.values)
      )
    }
    guard !listeners.isEmpty || !hearers.isEmpty else { return }
    let now = clock.now
    // All listeners share one copy.
    let copy = bytes.withUnsafeBytes(Array.init)
    for listener in listeners { listener.add(direction, copy, at: now) }
    for hearer in hearers { hearer(copy) }
  }

  /// Called by the transport with what happened on the way of the bytes.
  func noted(_ text: String) {
    let now = clock.now
    for listener in state.withLock({ $0.listeners.values }) { listener.add(.fromDevice, [], note: text, at: now) }
  }

  /// Calls `body` on the I/O thread with all further bytes from the device. Returns a closure that ends this.
  func hear(_ body: @escaping @Sendable ([UInt8]) -> Void) -> @Sendable () -> Void {
    let key = state.withLock { state in
      state.next += 1
      state.hearers[state.next] = body
      return state.next
    }
    return { [weak self] in _ = self?.state.withLock { $0.hearers.removeValue(forKey: key) } }
  }

  /// A new listener, and a closure that removes it.
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

  /// Ends all listeners, since the attachment is removed.
  func end() {
    let listeners = state.withLock { state in
      state.hasEnded = true
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.end() }
  }
}
