// SPDX-License-Identifier: Apache-2.0

/// A timer that is set again only when its deadline changes.
package struct DeadlineTimer: Sendable {
  private var current: (deadline: MonotonicTime, token: TimerToken)?

  /// Nil while the timer isn't set.
  package var deadline: MonotonicTime? { current?.deadline }

  package init() {}

  /// Sets the timer, which then runs `body`; nil cancels it.
  package mutating func set(
    _ deadline: MonotonicTime?, on clock: any TimerClock, _ body: @escaping @Sendable () -> Void
  ) {
    guard current?.deadline != deadline else { return }
    cancel(on: clock)
    current = deadline.map { ($0, clock.schedule(at: $0, body)) }
  }

  /// Sets the timer, unless it is set for an earlier time or `deadline` is nil. So a deadline that moves with each reading doesn't need a
  /// new timer each time; when the timer fires too early, its owner sets it again. `body` gets the time for which it was set.
  package mutating func advance(
    to deadline: MonotonicTime?, on clock: any TimerClock, _ body: @escaping @Sendable (MonotonicTime) -> Void
  ) {
    guard let deadline, current.map({ deadline < $0.deadline }) ?? true else { return }
    set(deadline, on: clock) { body(deadline) }
  }

  package mutating func cancel(on clock: any TimerClock) {
    if let current { clock.cancel(current.token) }
    current = nil
  }

  /// To be called when `body` runs.
  package mutating func ended() { current = nil }
}
