// SPDX-License-Identifier: Apache-2.0

/// An actor whose executor is an I/O thread.
package protocol IOActor: Actor {
  /// The thread; `unownedExecutor` is its.
  nonisolated var io: IOThread { get }
}

extension IOActor {
  /// Runs `body` isolated to the actor, like `assumeIsolated`. Traps on any thread but the actor's I/O thread.
  ///
  /// `assumeIsolated` lets the runtime look up the current task and executors. For each event that took half as long as
  /// the read that followed; this takes one comparison.
  package nonisolated func enter<Result>(_ body: (isolated Self) -> Result) -> Result {
    typealias Nonisolated = (Self) -> Result
    precondition(io.isCurrent, "this must run on the I/O thread")
    return withoutActuallyEscaping(body) { body in
      // An isolated parameter is passed as any other is; the standard library's own `assumeIsolated` relies on it too.
      unsafeBitCast(body, to: Nonisolated.self)(self)
    }
  }
}
