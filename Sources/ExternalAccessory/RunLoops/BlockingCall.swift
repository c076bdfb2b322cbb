// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Dispatch

/// For interfaces that answer at once and must wait for something: the caller's thread stands still meanwhile.
enum BlockingCall {
  /// Runs `body` on `TaskQueue.shared` and waits for it: so it doesn't need the threads of Swift's tasks, of which the
  /// caller may have the last. `body` must not block, only `await`.
  ///
  /// After `limit` the task is cancelled, what it comes to all the same is given to `late`, and `timedOut` is thrown
  /// with `action` in its message.
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

/// Where a result is put on one thread and waited for on another.
private final class Slot<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var result: Result<Value, AccessoryError>?
    var isGivenUp = false
  }

  private let state = Locked(State())
  private let isFull = DispatchSemaphore(value: 0)

  /// False when nobody waits any more.
  func fill(_ result: Result<Value, AccessoryError>) -> Bool {
    let isWanted = state.withLock { state in
      if !state.isGivenUp { state.result = result }
      return !state.isGivenUp
    }
    isFull.signal()
    return isWanted
  }

  /// The result; nil when there is none in time.
  func wait(_ limit: Duration) -> Result<Value, AccessoryError>? {
    _ = isFull.wait(timeout: .now() + .milliseconds(Int(limit / .milliseconds(1))))
    return state.withLock { state in
      state.isGivenUp = state.result == nil
      return state.result
    }
  }
}
