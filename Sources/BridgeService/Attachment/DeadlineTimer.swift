// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A timer that is set again only when its deadline changes.
struct DeadlineTimer {
  private var current: (deadline: MonotonicTime, token: TimerToken)?

  /// Nil while the timer isn't set.
  var deadline: MonotonicTime? { current?.deadline }

  /// Sets the timer, which then runs `body`; nil cancels it.
  mutating func set(_ deadline: MonotonicTime?, on clock: any TimerClock, _ body: @escaping @Sendable () -> Void) {
    guard current?.deadline != deadline else { return }
    cancel(on: clock)
    current = deadline.map { ($0, clock.schedule(at: $0, body)) }
  }

  mutating func cancel(on clock: any TimerClock) {
    if let current { clock.cancel(current.token) }
    current = nil
  }

  /// To be called when `body` runs.
  mutating func ended() { current = nil }
}
