// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Runs an actor on a serial dispatch queue of its own.
package final class DispatchExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// An executor over a new queue.
  package init(label: String) { queue = DispatchQueue(label: label) }

  /// Runs an actor's job; called by the Swift runtime.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Runs `body` on the queue, behind what is there.
  package func post(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// This executor, for an actor's `unownedExecutor`.
  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// The runtime asks this for `assumeIsolated`.
  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
