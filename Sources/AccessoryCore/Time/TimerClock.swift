// SPDX-License-Identifier: Apache-2.0

/// Where time comes from: the I/O thread's timers in life, a clock moved by hand in tests.
public protocol TimerClock: Sendable {
  /// The present.
  var now: MonotonicTime { get }
  /// Runs `action` once, at `deadline` or soon after, on the I/O thread; it must not block. Callable from any thread.
  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken
  /// Forgets a scheduled action. Too late is harmless: the action may be running already.
  func cancel(_ token: TimerToken)
}

extension TimerClock {
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
