// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Dispatch
import Synchronization

/// Keeps a process that waits for long from waking up for nothing, and its threads few.
///
/// On Linux, the threads that serve Swift's tasks and dispatch's global queues are watched by dispatch: as soon as there
/// is one, a timer wakes its manager every second for ever, to look whether all of them are blocked. So a service runs
/// its tasks, and what its links and actors do, on a fixed number of threads of its own, which it can: tasks here don't
/// block. Programs that use this package as a library keep what they have.
package enum QuietTasks {
  private enum Mode: UInt8 {
    case off, threads, handedOver
  }

  private static let mode = Atomic<UInt8>(Mode.off.rawValue)
  /// In a structure: a function that is a generic type's own value is wrapped once more each time that it is looked at.
  private struct Taker: Sendable {
    var take: @Sendable (WorkerThreads.Work) -> Void = { _ in }
  }

  private static let taker = Locked(Taker())
  /// More than there are processors, so that one that does block, against the rules, holds up no other. One stays, so
  /// that there is one when the system allows no more.
  private static let threads = WorkerThreads(name: "accessory-work", limit: 8, kept: 1)

  /// To be called once, before the first task: one that ran before has brought the timer.
  ///
  /// Throws `ioFailure` when the system allows no thread.
  package static func begin() throws(AccessoryError) {
    guard threads.startFirst() else {
      throw AccessoryError(
        .ioFailure, "no thread can be started: is there a limit of memory or of threads (ulimit -v, ulimit -u)?")
    }
    begin(.threads)
  }

  /// In place of `begin`, for a fuzzer: whatever tasks and queues have to do is handed to `taker`, which decides what runs
  /// when, by `WorkerThreads.perform`, and needs no thread but its own.
  package static func begin(handingTo taker: @escaping @Sendable (WorkerThreads.Work) -> Void) {
    self.taker.withLock { $0.take = taker }
    begin(.handedOver)
  }

  private static func begin(_ mode: Mode) {
    self.mode.store(mode.rawValue, ordering: .relaxed)
    shim_redirect_tasks { job in if let job { QuietTasks.submit(.job(UInt(bitPattern: job))) } }
  }

  /// Whether all is handed over, also what may block.
  static var isHandedOver: Bool { mode.load(ordering: .relaxed) == Mode.handedOver.rawValue }

  /// Has something done by the threads that serve tasks.
  static func submit(_ work: WorkerThreads.Work) {
    switch Mode(rawValue: mode.load(ordering: .relaxed)) {
    case .threads?: threads.submit(work)
    case .handedOver?: taker.withLock { $0.take }(work)
    case .off?, nil: DispatchQueue.global().async { WorkerThreads.perform(work) }
    }
  }
}
