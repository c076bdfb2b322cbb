// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Runs an actor on a serial dispatch queue of its own.
package final class DispatchExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// An executor over a new queue.
  ///
  /// It is served by the threads that serve Swift's tasks: so the thread that finds a reply goes on with the task that
  /// waited for it. A serial queue has threads of another pool unless told so, and one of them would have to wake one
  /// of these. Not so where `QuietTasks` has begun.
  package init(label: String) {
    queue = QuietTasks.isOn ? DispatchQueue(label: label) : DispatchQueue(label: label, target: .global())
  }

  /// Runs an actor's job; called by the Swift runtime.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Runs `body` on the queue, behind what is there.
  package func post(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Runs `body` on the queue, in turn, and lends it the calling thread meanwhile.
  package func run(_ body: () -> Void) { queue.sync(execute: body) }

  /// This executor, for an actor's `unownedExecutor`.
  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// The runtime asks this for `assumeIsolated`.
  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
