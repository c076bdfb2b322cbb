// SPDX-License-Identifier: Apache-2.0

/// A value that comes once, from any thread, and that tasks wait for. It may come before they wait; only the first one counts.
package final class OneShot<Value: Sendable>: Sendable {
  private enum State {
    case waiting([CheckedContinuation<Value, Never>])
    case finished(Value)
  }

  private let state = Locked(State.waiting([]))

  /// No value has come yet.
  package init() {}

  /// The value; nil as long as none has come.
  package var current: Value? {
    state.withLock { if case .finished(let value) = $0 { value } else { nil } }
  }

  /// Sets the value. Returns false, and changes nothing, when one came before.
  @discardableResult
  package func finish(_ value: Value) -> Bool {
    let waiting: [CheckedContinuation<Value, Never>]? = state.withLock { state in
      guard case .waiting(let waiting) = state else { return nil }
      state = .finished(value)
      return waiting
    }
    for continuation in waiting ?? [] { continuation.resume(returning: value) }
    return waiting != nil
  }

  /// Waits for the value.
  package func value(isolation: isolated (any Actor)? = #isolation) async -> Value {
    await withCheckedContinuation { continuation in
      let value: Value? = state.withLock { state in
        switch state {
        case .finished(let value): return value
        case .waiting(let waiting):
          state = .waiting(waiting + [continuation])
          return nil
        }
      }
      if let value { continuation.resume(returning: value) }
    }
  }

  /// Waits for the value; when the task is cancelled before it comes, `other` is the value, for all who wait.
  package func value(
    isolation: isolated (any Actor)? = #isolation, whenCancelled other: @autoclosure @escaping @Sendable () -> Value
  ) async -> Value {
    await withTaskCancellationHandler {
      await value()
    } onCancel: {
      finish(other())
    }
  }
}

extension OneShot where Value == Void {
  /// What is waited for has happened. Returns false when it had happened before.
  @discardableResult
  package func finish() -> Bool { finish(()) }
}
