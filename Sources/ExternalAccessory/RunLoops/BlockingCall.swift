// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Dispatch

/// Calls asynchronous code from a synchronous function, and blocks the calling thread until it returns.
enum BlockingCall {
  /// Runs `body` on `TaskQueue.shared` and waits for it. Swift's own task threads aren't used, since the caller may be
  /// blocking the last one of them. `body` must not block, only `await`.
  ///
  /// After `limit`, `body` is cancelled, and `timedOut` is thrown with `action` in its message. If `body` still returns
  /// a value, `late` receives it.
  static func run<Value: Sendable>(
    _ action: String, limit: Duration, late: @escaping @Sendable (Value) -> Void = { _ in },
    _ body: @escaping @Sendable () async throws(AccessoryError) -> Value
  ) throws(AccessoryError) -> Value {
    let slot = Slot<Value>()
    let task = Task.detached(executorPreference: TaskQueue.shared) {
      let result: Result<Value, AccessoryError>
      do throws(AccessoryError) { result = .success(try await body()) } catch { result = .failure(error) }
      if !slot.fill(result), case .success(let value) = result { late(value) }
    }
    guard let result = slot.wait(limit) else {
      task.cancel()
      throw AccessoryError(.timedOut, "\(action) takes too long")
    }
    return try result.get()
  }
}

/// A result that one thread stores and another waits for.
private final class Slot<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var result: Result<Value, AccessoryError>?
    var isGivenUp = false
  }

  private let state = Locked(State())
  private let isFull = DispatchSemaphore(value: 0)

  /// Stores the result. False when the waiting thread has given up.
  func fill(_ result: Result<Value, AccessoryError>) -> Bool {
    let isWanted = state.withLock { state in
      if !state.isGivenUp { state.result = result }
      return !state.isGivenUp
    }
    isFull.signal()
    return isWanted
  }

  /// The result; nil when there is none after `limit`.
  func wait(_ limit: Duration) -> Result<Value, AccessoryError>? {
    _ = isFull.wait(timeout: .now() + .milliseconds(Int(limit / .milliseconds(1))))
    return state.withLock { state in
      state.isGivenUp = state.result == nil
      return state.result
    }
  }
}
