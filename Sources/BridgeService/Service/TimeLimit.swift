// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Work with a time limit.
enum TimeLimit {
  /// A client's time limit in milliseconds, restricted to 1 ms … 1 day; nil for none.
  static func duration(_ milliseconds: Int?) -> Duration? {
    milliseconds.map { .milliseconds(max(1, min($0, 86_400_000))) }
  }

  /// Runs `body` with a timeout. At the timeout `body` is cancelled, and `timedOut` is thrown.
  static func run<Value: Sendable>(
    _ limit: Duration?, _ clock: any TimerClock, label: String,
    _ body: @escaping @Sendable () async throws(AccessoryError) -> Value
  ) async throws(AccessoryError) -> Value {
    guard let limit else { return try await body() }
    let isLate = Locked(false)
    let task = Task { () async -> Result<Value, AccessoryError> in
      do throws(AccessoryError) { return .success(try await body()) } catch { return .failure(error) }
    }
    let timer = clock.schedule(at: clock.now + limit) {
      isLate.withLock { $0 = true }
      task.cancel()
    }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    clock.cancel(timer)
    if case .failure(let error) = result, error.kind == .cancelled, isLate.withLock({ $0 }) {
      throw AccessoryError(.timedOut, "\(label) did not answer in time")
    }
    return try result.get()
  }
}
