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
    // Nil when the waiting thread has given up.
    let answer = OneShot<Result<Value, AccessoryError>?>()
    let isThere = DispatchSemaphore(value: 0)
    let task = Task.detached(executorPreference: TaskQueue.shared) {
      let result: Result<Value, AccessoryError>
      do throws(AccessoryError) { result = .success(try await body()) } catch { result = .failure(error) }
      if !answer.finish(result), case .success(let value) = result { late(value) }
      isThere.signal()
    }
    _ = isThere.wait(timeout: .now() + .milliseconds(Int(limit / .milliseconds(1))))
    answer.finish(nil)
    guard case .some(.some(let result)) = answer.current else {
      task.cancel()
      throw AccessoryError(.timedOut, "\(action) takes too long")
    }
    return try result.get()
  }
}
