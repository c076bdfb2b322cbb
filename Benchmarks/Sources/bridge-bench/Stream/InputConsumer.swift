// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Dispatch
import Synchronization

/// Takes what arrives on a dispatch queue of its own, as a link does, and only counts it.
final class InputConsumer: Sendable {
  private struct State {
    var left: Int
    var buffer: [UInt8] = []
    var result: Result<Void, AccessoryError>?
    var waiting: CheckedContinuation<Result<Void, AccessoryError>, Never>?
  }

  private let queue = DispatchQueue(label: "bench.consumer")
  private let input: InputQueue
  private let state: Mutex<State>

  init(_ input: InputQueue, expecting total: Int) {
    self.input = input
    state = Mutex(State(left: total))
    input.onReadable { [queue, weak self] in queue.async { [weak self] in self?.drain() } }
  }

  /// Returns when all expected bytes are there.
  func finish() async throws(AccessoryError) {
    try await withCheckedContinuation { continuation in
      let result = state.withLock { state in
        if state.result == nil { state.waiting = continuation }
        return state.result
      }
      if let result { continuation.resume(returning: result) }
    }.get()
  }

  private func drain() {
    let (waiting, result) = state.withLock { state in
      loop: while state.result == nil {
        switch input.take(into: &state.buffer) {
        case .bytes:
          state.left -= state.buffer.count
          if state.left <= 0 { state.result = .success(()) }
        case .nothing: break loop
        case .end(let error): state.result = .failure(error ?? AccessoryError(.cancelled, "closed"))
        }
      }
      guard state.result != nil else { return (state.waiting, state.result) }
      defer { state.waiting = nil }
      return (state.waiting, state.result)
    }
    if let result { waiting?.resume(returning: result) }
  }
}
