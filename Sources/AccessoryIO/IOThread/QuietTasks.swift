// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import DequeModule
import Dispatch
import Glibc

/// Keeps a process that waits for long from waking up for nothing.
///
/// On Linux, the threads that serve Swift's tasks and dispatch's global queues are watched by dispatch: as soon as there
/// is one, a timer wakes its manager every second for ever, to look whether all of them are blocked. The threads of
/// serial queues are not watched. So a service runs its tasks on a few serial queues, which it can: tasks here don't block.
/// Programs that use this package as a library keep what they have.
package enum QuietTasks {
  fileprivate struct State {
    /// Pointers to jobs, which are no Sendable; each is handed over whole, to be run once.
    var jobs: Deque<UInt> = []
    /// Queues that do nothing, the one that worked last at the end.
    var idle: [DispatchQueue] = []
    var hasBegun = false
  }

  private static let state = Locked(State())
  /// Tasks at a time. More than there are processors, so that one that does block, against the rules, holds up no other.
  private static let workers = 8

  /// Whether this process has begun to be quiet.
  static var isOn: Bool { state.withLock { $0.hasBegun } }

  /// To be called once, before the first task: one that ran before has brought the timer.
  package static func begin() {
    state.withLock { state in
      state.hasBegun = true
      state.idle = (0..<workers).map { DispatchQueue(label: "accessory.tasks.\($0)") }
    }
    shim_redirect_tasks { job in if let job { QuietTasks.take(UInt(bitPattern: job)) } }
  }

  private static func take(_ job: UInt) {
    let worker = state.withLock { state in
      state.jobs.append(job)
      return state.idle.popLast()
    }
    if let worker { worker.async { work(worker) } }
  }

  /// Runs what there is to run.
  private static func work(_ worker: DispatchQueue) {
    while let job = state.withLock({ $0.next(worker) }) {
      shim_run_task_job(UnsafeMutableRawPointer(bitPattern: job))
    }
  }
}

extension QuietTasks.State {
  /// The next job; without one, `worker` has nothing to do from now on.
  fileprivate mutating func next(_ worker: DispatchQueue) -> UInt? {
    if jobs.isEmpty { idle.append(worker) }
    return jobs.popFirst()
  }
}
