// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// The queue on which this module's tasks run: a serial dispatch queue.
///
/// Not the threads of Swift's tasks: the main thread may wait for one of these tasks, and so may every thread of that
/// pool. Not the I/O thread: profiles are matched and a service's answers are decoded here.
final class TaskQueue: TaskExecutor {
  /// The one queue of this module.
  static let shared = TaskQueue()

  private let queue = DispatchQueue(label: "accessory.external")

  /// Runs a task's job; called by the Swift runtime.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
