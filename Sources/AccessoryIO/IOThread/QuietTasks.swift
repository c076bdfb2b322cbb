// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Dispatch
import Synchronization

/// Lets an idle process sleep without wake-ups, and limits its threads.
///
/// On Linux, dispatch starts a timer with its first global worker thread and wakes up every second from then on, to
/// check whether all workers are blocked. So the service runs its tasks, links and actors on a fixed number of threads
/// of its own. It can, as its tasks don't block. Programs that use this package as a library keep dispatch's threads.
package enum QuietTasks {
  private enum Mode: UInt8 {
    case off, threads, handedOver
  }

  private static let mode = Atomic<UInt8>(Mode.off.rawValue)
  /// In a struct, because reading a function out of a generic type wraps it in another closure each time.
  private struct Taker: Sendable {
    var take: @Sendable (WorkerThreads.Work) -> Void = { _ in }
  }

  private static let taker = Locked(Taker())
  /// More than there are processors, so that a task that blocks against the rules doesn't stop the others. One thread
  /// is never ended, so that there is one even when the system allows no new one.
  private static let threads = WorkerThreads(name: "accessory-work", limit: 8, kept: 1)

  /// Call it once, before the first task, because the first task starts dispatch's timer.
  ///
  /// Throws `ioFailure` when the system allows no thread.
  package static func begin() throws(AccessoryError) {
    guard threads.startFirst() else {
      throw AccessoryError(
        .ioFailure, "no thread can be started: is there a limit of memory or of threads (ulimit -v, ulimit -u)?")
    }
    begin(.threads)
  }

  /// For fuzzers, instead of `begin`: all work of tasks and queues is passed to `taker`, which decides when it runs, by
  /// calling `WorkerThreads.perform`. No other thread is needed.
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
