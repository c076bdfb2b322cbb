// SPDX-License-Identifier: Apache-2.0

/// Has work done one after another, in the order in which it was asked for. Used from any thread.
package final class Turns: Sendable {
  private struct State: Sendable {
    var queues: [String: TurnQueue] = [:]
    var waiting: [Int: OneShot<Bool>] = [:]
    var last = 0
  }

  private let state = Locked(State())

  package init() {}

  /// Runs `body` when it is its turn at this place. Throws what it throws, and `cancelled` when the task is cancelled before.
  package func take<Value>(
    at place: String = "", isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws(AccessoryError) -> Value
  ) async throws(AccessoryError) -> Value {
    let turn = OneShot<Bool>()
    let (number, isNow) = state.withLock { state in
      state.last += 1
      state.waiting[state.last] = turn
      return (state.last, state.queues[place, default: TurnQueue()].enter(state.last))
    }
    defer { leave(place, number) }
    if !isNow, await !turn.value(whenCancelled: false) {
      throw AccessoryError(.cancelled, "waiting for what was begun before was cancelled")
    }
    return try await body()
  }

  /// How many work or wait at a place.
  package func count(at place: String = "") -> Int { state.withLock { $0.queues[place]?.count ?? 0 } }

  private func leave(_ place: String, _ number: Int) {
    let next = state.withLock { state -> OneShot<Bool>? in
      state.waiting[number] = nil
      guard var queue = state.queues[place] else { return nil }
      let next = queue.leave(number)
      state.queues[place] = queue.count == 0 ? nil : queue
      return next.flatMap { state.waiting[$0] }
    }
    next?.finish(true)
  }
}

/// Whose turn it is, and who waits for it.
struct TurnQueue: Sendable {
  /// It is the turn of the first one.
  private var numbers: [Int] = []

  var count: Int { numbers.count }

  /// Stands at the end of the queue. Returns whether it is its turn at once.
  mutating func enter(_ number: Int) -> Bool {
    numbers.append(number)
    return numbers.count == 1
  }

  /// Leaves the queue, whether it was its turn or not. Returns whose turn it is now, if that has changed.
  mutating func leave(_ number: Int) -> Int? {
    guard let place = numbers.firstIndex(of: number) else { return nil }
    numbers.remove(at: place)
    return place == 0 ? numbers.first : nil
  }
}
