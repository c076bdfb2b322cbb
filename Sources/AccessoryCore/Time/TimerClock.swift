// SPDX-License-Identifier: Apache-2.0

/// A clock with timers: the I/O thread's in production, a clock moved by hand in tests.
public protocol TimerClock: Sendable {
  /// The present.
  var now: MonotonicTime { get }
  /// The present on a clock that goes on while the machine sleeps (the kernel's `CLOCK_BOOTTIME`): for the ages of what was
  /// read. Not comparable with `now`.
  var bootTime: MonotonicTime { get }
  /// Runs `action` once, at `deadline` or soon after, on the I/O thread; it must not block. Callable from any thread.
  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken
  /// Cancels a scheduled action. The action may already be running, or have run; then this does nothing.
  func cancel(_ token: TimerToken)
}

extension TimerClock {
  /// Returns `now`, for clocks that don't know of the machine's sleep.
  public var bootTime: MonotonicTime { now }

  /// Suspends the task until `duration` has passed, on the I/O thread's timer. Returns early when it is cancelled.
  public func sleep(for duration: Duration) async {
    let sleeper = Sleeper()
    let token = schedule(at: now + duration) { sleeper.finish() }
    await withTaskCancellationHandler {
      await sleeper.wait()
    } onCancel: {
      sleeper.finish()
    }
    cancel(token)
  }
}
