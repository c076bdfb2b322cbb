// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A value that tests can wait on. A change, on any thread, wakes the waiters whose condition the new value fulfils.
public final class Watched<Value: Sendable>: Sendable {
  private struct Waiter: Sendable {
    var condition: @Sendable (Value) -> Bool
    var continuation: CheckedContinuation<Value?, Never>
  }

  private struct State: Sendable {
    var value: Value
    var waiters: [UInt64: Waiter] = [:]
    var cancelled: Set<UInt64> = []
    var nextID: UInt64 = 0
  }

  private let state: Locked<State>

  /// Starts with `value`.
  public init(_ value: Value) { state = Locked(State(value: value)) }

  /// The current value.
  public var value: Value { state.withLock { $0.value } }

  /// Changes the value, wakes the waiters whose condition it now fulfils, and returns what `change` returns.
  @discardableResult
  public func update<Result: Sendable>(_ change: @Sendable (inout Value) -> Result) -> Result {
    let (result, woken, value) = state.withLock { state in
      let result = change(&state.value)
      let value = state.value
      let ids = state.waiters.filter { $0.value.condition(value) }.map(\.key)
      return (result, ids.compactMap { state.waiters.removeValue(forKey: $0)?.continuation }, value)
    }
    for continuation in woken { continuation.resume(returning: value) }
    return result
  }

  /// Waits until the value fulfils `condition`, and returns it. Throws `CancellationError` when the task is cancelled,
  /// as by the time limit of a test.
  @discardableResult
  public func wait(until condition: @escaping @Sendable (Value) -> Bool) async throws -> Value {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let value = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let now: Value?? = state.withLock { state in
          if state.cancelled.remove(id) != nil { return .some(nil) }
          if condition(state.value) { return state.value }
          state.waiters[id] = Waiter(condition: condition, continuation: continuation)
          return .none
        }
        if let now { continuation.resume(returning: now) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let waiter = state.waiters.removeValue(forKey: id)
        if waiter == nil { state.cancelled.insert(id) }
        return waiter
      }
      waiter?.continuation.resume(returning: nil)
    }
    guard let value else { throw CancellationError() }
    return value
  }
}
