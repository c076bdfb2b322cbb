// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Has the devices of an adapter connected one after another, in the order in which they were asked for.
///
/// An adapter makes one connection at a time. Connections that are begun together wait for each other inside of bluetoothd, and the time
/// limit of each goes on meanwhile: of ten, the last ones fail again and again. With turns, the time limit of each begins with its turn,
/// and who fails stands at the end of the queue.
final class ConnectionTurns: Sendable {
  /// The turns of all connections of this program.
  static let shared = ConnectionTurns()

  private struct State: Sendable {
    var queues: [String: TurnQueue] = [:]
    var waiting: [Int: OneShot<Bool>] = [:]
    var last = 0
  }

  private let state = Locked(State())

  init() {}

  /// Runs `body` when it is its turn at the adapter of this name. Throws what it throws, and `cancelled` when the task is cancelled
  /// before.
  func take<Value>(
    at adapter: String, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws(AccessoryError) -> Value
  ) async throws(AccessoryError) -> Value {
    let turn = OneShot<Bool>()
    let (number, isNow) = state.withLock { state in
      state.last += 1
      state.waiting[state.last] = turn
      return (state.last, state.queues[adapter, default: TurnQueue()].enter(state.last))
    }
    defer { leave(adapter, number) }
    if !isNow, await !turn.value(whenCancelled: false) {
      throw AccessoryError(.cancelled, "waiting for other connections was cancelled")
    }
    return try await body()
  }

  /// How many connect or wait at an adapter.
  func count(at adapter: String) -> Int { state.withLock { $0.queues[adapter]?.count ?? 0 } }

  private func leave(_ adapter: String, _ number: Int) {
    let next = state.withLock { state -> OneShot<Bool>? in
      state.waiting[number] = nil
      guard var queue = state.queues[adapter] else { return nil }
      let next = queue.leave(number)
      state.queues[adapter] = queue.count == 0 ? nil : queue
      return next.flatMap { state.waiting[$0] }
    }
    next?.finish(true)
  }
}

/// Who is connecting, and who waits for it.
struct TurnQueue: Sendable {
  /// The first one is connecting.
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
