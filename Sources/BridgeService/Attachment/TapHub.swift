// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Passes the traffic of a device to any number of listeners, also after the device is reopened. A slow listener loses
/// the newest bytes and is told how many; it doesn't delay others.
final class TapHub: TransportTap {
  /// Pieces that a listener may be behind.
  private static let pieceLimit = 1_024
  /// Bytes that a listener may be behind; it has as much again on its way to the client.
  private static let byteLimit = 1 << 18

  /// What passed together.
  struct Piece: Sendable {
    let time: MonotonicTime
    let direction: ByteDirection
    let bytes: [UInt8]
    /// Bytes of both directions that were dropped just before.
    let lostBytes: Int
  }

  /// The buffer of one listener. Its lock is the only one that the I/O thread waits for.
  final class Listener: Sendable {
    private struct State {
      var pieces: [Piece] = []
      var byteCount = 0
      var lostBytes = 0
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

    func add(_ direction: ByteDirection, _ bytes: [UInt8], at time: MonotonicTime) {
      let wake = state.withLock { state -> AsyncStream<Void>.Continuation? in
        // A piece of any length finds place where there is none.
        let fits =
          state.pieces.isEmpty
          || state.pieces.count < TapHub.pieceLimit && bytes.count <= TapHub.byteLimit - state.byteCount
        guard fits else {
          let (sum, isTooMuch) = state.lostBytes.addingReportingOverflow(bytes.count)
          state.lostBytes = isTooMuch ? .max : sum
          return nil
        }
        state.pieces.append(
          Piece(time: time, direction: direction, bytes: bytes, lostBytes: state.lostBytes))
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

    /// What was dropped behind the last piece, for the end of it all.
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
    var next = 0
    var hasEnded = false
  }

  private let clock: any TimerClock
  private let state = Locked(State())

  init(clock: any TimerClock) { self.clock = clock }

  /// Called by the transport.
  func passed(_ direction: ByteDirection, _ bytes: RawSpan) {
    let listeners = state.withLock { $0.listeners.isEmpty ? [] : Array($0.listeners.values) }
    guard !listeners.isEmpty else { return }
    let now = clock.now
    // One copy, which all share.
    let copy = bytes.withUnsafeBytes(Array.init)
    for listener in listeners { listener.add(direction, copy, at: now) }
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
