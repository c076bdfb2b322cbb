// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Dispatch
import Glibc

/// Keeps a process that waits for long from waking up for nothing.
///
/// On Linux, the threads that serve Swift's tasks and dispatch's global queues are watched by dispatch: as soon as there
/// is one, a timer wakes its manager every second for ever, to look whether all of them are blocked. The threads of
/// serial queues are not watched. So a service runs its tasks on a few serial queues, which it can: none of them blocks.
/// Programs that use this package as a library keep what they have.
package enum QuietTasks {
  /// Queues by turns; a task's next job may run on another.
  private static let queues = (0..<max(2, min(8, sysconf(Int32(_SC_NPROCESSORS_ONLN))))).map {
    DispatchQueue(label: "accessory.tasks.\($0)")
  }
  private static let turn = Locked(0)
  private static let begun = Locked(false)

  /// Whether this process has begun to be quiet.
  static var isOn: Bool { begun.withLock { $0 } }

  /// To be called once, before the first task: one that ran before has brought the timer.
  package static func begin() {
    begun.withLock { $0 = true }
    shim_redirect_tasks { job in
      guard let job else { return }
      let index = QuietTasks.turn.withLock { turn in
        turn = (turn + 1) % QuietTasks.queues.count
        return turn
      }
      let number = UInt(bitPattern: job)  // a pointer is no Sendable, and the job is handed over whole
      QuietTasks.queues[index].async { shim_run_task_job(UnsafeMutableRawPointer(bitPattern: number)) }
    }
  }
}
