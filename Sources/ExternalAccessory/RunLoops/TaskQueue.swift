// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// The serial dispatch queue that runs this module's tasks.
///
/// The threads of Swift's tasks aren't used, since the main thread may wait for one of these tasks, and so may every
/// thread of that pool. The I/O thread isn't used, since profiles are matched and a service's replies are decoded here.
final class TaskQueue: TaskExecutor {
  /// The queue of this module.
  static let shared = TaskQueue()

  private let queue = DispatchQueue(label: "accessory.external")

  /// Runs a task's job; called by the Swift runtime.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
