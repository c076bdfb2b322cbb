// SPDX-License-Identifier: Apache-2.0

/// An actor whose executor is an I/O thread.
package protocol IOActor: Actor {
  /// The I/O thread; the actor's `unownedExecutor` must be this thread's.
  nonisolated var io: IOThread { get }
}

extension IOActor {
  /// Runs `body` isolated to the actor, like `assumeIsolated`. Traps on any thread but the actor's I/O thread.
  ///
  /// `assumeIsolated` makes the runtime look up the current task and executors, which took half as long as the read of
  /// an event. This function only compares two thread ids.
  @inline(__always)
  package nonisolated func enter<Result>(_ body: @escaping (isolated Self) -> Result) -> Result {
    precondition(io.isCurrent, "this must run on the I/O thread")
    return unsafeBitCast(IsolatedBody(call: body), to: NonisolatedBody<Self, Result>.self).call(self)
  }

  /// Runs `body` in the same way with `value`. A closure that captures is a block of the heap; one that takes the value as an
  /// argument is not.
  @inline(__always)
  package nonisolated func enter<Value, Result>(
    _ value: Value, _ body: @escaping (isolated Self, Value) -> Result
  ) -> Result {
    precondition(io.isCurrent, "this must run on the I/O thread")
    return unsafeBitCast(IsolatedBodyOfValue(call: body), to: NonisolatedBodyOfValue<Self, Value, Result>.self)
      .call(self, value)
  }
}

// A function in a structure is cast as it is; a function by itself would first be wrapped in a block of the heap.
// An isolated parameter is passed as any other is; the standard library's own `assumeIsolated` relies on it, too.

private struct IsolatedBody<Target: Actor, Result> { let call: (isolated Target) -> Result }

private struct NonisolatedBody<Target: Actor, Result> { let call: (Target) -> Result }

private struct IsolatedBodyOfValue<Target: Actor, Value, Result> { let call: (isolated Target, Value) -> Result }

private struct NonisolatedBodyOfValue<Target: Actor, Value, Result> { let call: (Target, Value) -> Result }
