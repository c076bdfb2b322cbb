// SPDX-License-Identifier: Apache-2.0

/// A clock with timers. In production it is the clock of the I/O thread, in tests one that is moved by hand.
public protocol TimerClock: Sendable {
  /// The current time.
  var now: MonotonicTime { get }
  /// The current time on a clock that continues while the machine is suspended (the kernel's `CLOCK_BOOTTIME`), for the
  /// ages of readings. Not comparable with `now`.
  var bootTime: MonotonicTime { get }
  /// Runs `action` once, at `deadline` or soon after, on the clock's thread (the I/O thread in production). `action`
  /// must not block. May be called from any thread.
  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken
  /// Cancels a scheduled action. Does nothing if the action has run or is running.
  func cancel(_ token: TimerToken)
}

extension TimerClock {
  /// Returns `now`, for clocks that don't notice when the machine is suspended.
  public var bootTime: MonotonicTime { now }

  /// Suspends the task until `duration` has passed on this clock. Returns early when the task is cancelled.
  public func sleep(for duration: Duration) async {
    let end = OneShot<Void>()
    let token = schedule(at: now + duration) { end.finish() }
    await end.value(whenCancelled: ())
    cancel(token)
  }
}
