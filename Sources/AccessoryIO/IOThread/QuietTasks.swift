// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Dispatch
import Synchronization

/// Makes Swift's tasks run on a fixed number of threads that cause no wake-ups while the process is idle.
///
/// On Linux, dispatch starts a timer with its first global worker thread and from then on wakes up every second to
/// check whether all workers are blocked. So the service runs its tasks, links and actors on a fixed number of threads
/// of its own. A fixed number suffices because these tasks don't block. Programs that use this package as a library
/// keep dispatch's threads.
package enum QuietTasks {
  private enum Mode: UInt8 {
    case off, threads, handedOver
  }

  private static let mode = Atomic<UInt8>(Mode.off.rawValue)
  /// A struct, because reading a function out of a generic type wraps it in another closure each time.
  private struct Taker: Sendable {
    var take: @Sendable (WorkerThreads.Work) -> Void = { _ in }
  }

  private static let taker = Locked(Taker())
  /// Eight threads, so that a task that blocks, although it must not, doesn't stop all others. One thread never ends,
  /// so that there is one even when the system allows no new threads.
  private static let threads = WorkerThreads(name: "accessory-work", limit: 8, kept: 1)

  /// Call this once, before the first task, because the first task starts dispatch's timer.
  ///
  /// Throws `ioFailure` when the system allows no thread.
  package static func begin() throws(AccessoryError) {
    guard threads.startFirst() else {
      throw AccessoryError(
        .ioFailure, "a thread can't be started: check the limits of memory and threads (ulimit -v, ulimit -u)")
    }
    begin(.threads)
  }

  /// For fuzzers, instead of `begin`: passes the work of all tasks and queues to `taker`. `taker` decides when the work
  /// runs, and runs it with `WorkerThreads.perform`. No other thread is needed.
  package static func begin(handingTo taker: @escaping @Sendable (WorkerThreads.Work) -> Void) {
    self.taker.withLock { $0.take = taker }
    begin(.handedOver)
  }

  private static func begin(_ mode: Mode) {
    self.mode.store(mode.rawValue, ordering: .relaxed)
    shim_redirect_tasks { job in if let job { QuietTasks.submit(.job(UInt(bitPattern: job))) } }
  }

  /// Whether all work is passed to the fuzzer's `taker`, including work that may block.
  static var isHandedOver: Bool { mode.load(ordering: .relaxed) == Mode.handedOver.rawValue }

  /// Runs `work` on the threads that run tasks.
  static func submit(_ work: WorkerThreads.Work) {
    switch Mode(rawValue: mode.load(ordering: .relaxed)) {
    case .threads?: threads.submit(work)
    case .handedOver?: taker.withLock { $0.take }(work)
    case .off?, nil: DispatchQueue.global().async { WorkerThreads.perform(work) }
    }
  }
}
