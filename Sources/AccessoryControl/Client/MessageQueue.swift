// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A bounded queue of messages from the I/O thread to one task.
final class MessageQueue: Sendable {
  private struct State {
    var messages: [[UInt8]] = []
    var byteCount = 0
    var error: AccessoryError?
    var isPaused = false
    var continuation: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())
  private let onResume: @Sendable () -> Void

  /// The most messages in the queue. The client stops reading when it is reached.
  private static let limit = 256
  /// The most bytes in the queue. The last message may exceed it.
  private static let byteLimit = 1 << 20

  /// `onResume` is called when a paused producer may continue.
  init(onResume: @escaping @Sendable () -> Void) { self.onResume = onResume }

  /// Adds a message; false when the producer should pause.
  func append(_ message: [UInt8]) -> Bool {
    let (waiting, goesOn) = state.withLock { state in
      state.messages.append(message)
      state.byteCount += message.count
      if state.messages.count >= Self.limit || state.byteCount >= Self.byteLimit { state.isPaused = true }
      defer { state.continuation = nil }
      return (state.continuation, !state.isPaused)
    }
    waiting?.resume()
    return goesOn
  }

  /// Ends the queue; the first error counts.
  func finish(_ error: AccessoryError) {
    let waiting = state.withLock { state in
      if state.error == nil { state.error = error }
      defer { state.continuation = nil }
      return state.continuation
    }
    waiting?.resume()
  }

  /// The next message. When the task is cancelled, `onCancel` is called; it must finish the queue.
  func next(onCancel: @escaping @Sendable () -> Void) async throws(AccessoryError) -> [UInt8] {
    while true {
      let (message, error, mustResume) = state.withLock { state -> ([UInt8]?, AccessoryError?, Bool) in
        if state.messages.isEmpty { return (nil, state.error, false) }
        let message = state.messages.removeFirst()
        state.byteCount -= message.count
        let mustResume = state.isPaused && state.messages.isEmpty
        if mustResume { state.isPaused = false }
        return (message, nil, mustResume)
      }
      if mustResume { onResume() }
      if let message { return message }
      if let error { throw error }
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isThere = state.withLock { state in
            guard state.messages.isEmpty, state.error == nil else { return true }
            state.continuation = continuation
            return false
          }
          if isThere { continuation.resume() }
        }
      } onCancel: {
        onCancel()
      }
    }
  }
}
