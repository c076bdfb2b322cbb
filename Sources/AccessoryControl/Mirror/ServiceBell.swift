// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Notifies one waiting task when a service may have started at one of several sockets. Nothing runs while no socket
/// appears.
final class ServiceBell: Sendable {
  private struct State {
    /// Whether it has rung since the last wait. Initially true, because a service may be running already.
    var hasRung = true
    var waiter: AsyncStream<Void>.Continuation?
    /// How many sockets can be watched.
    var watched: Int
  }

  private let starts: [FileArrivals]
  private let state: Locked<State>
  private let tasks = Locked<[Task<Void, Never>]>([])

  /// The longest wait where no socket's folder can be watched, so that a start isn't noticed.
  private static let absencePause = Duration.seconds(60)

  /// Watches these sockets until `stop` is called.
  init(_ sockets: [String]) {
    starts = sockets.map { FileArrivals(at: $0) }
    state = Locked(State(watched: sockets.count))
    for start in starts {
      let task = Task { [weak self] in
        // Ignore the first signal, which is no news.
        for await _ in start.signals.dropFirst() { self?.ring() }
        self?.state.withLock { $0.watched -= 1 }
      }
      tasks.withLock { $0.append(task) }
    }
  }

  deinit { stop() }

  /// Stops watching.
  func stop() {
    for start in starts { start.stop() }
    for task in tasks.withLock({ $0 }) { task.cancel() }
  }

  /// Waits until it rings, unless it has rung since the last wait; at most for `limit`, and until the task is cancelled.
  func wait(atMost limit: Duration? = nil, _ clock: any TimerClock) async {
    let (stream, waiter) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let isOver = state.withLock { state -> Bool in
      if !state.hasRung { state.waiter = waiter }
      return state.hasRung
    }
    if !isOver {
      let limit = limit ?? (state.withLock { $0.watched > 0 } ? nil : Self.absencePause)
      let timer = limit.map { limit in clock.schedule(at: clock.now + limit) { waiter.finish() } }
      for await _ in stream { break }
      if let timer { clock.cancel(timer) }
    }
    state.withLock { ($0.hasRung, $0.waiter) = (false, nil) }
  }

  private func ring() {
    state.withLock { state in
      state.hasRung = true
      return state.waiter
    }?.yield()
  }
}
