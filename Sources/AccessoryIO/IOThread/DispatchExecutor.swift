// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Dispatch
import Glibc
import Synchronization

/// A serial queue: it runs jobs one after another, in order, on threads that it shares with other queues. It can be the
/// executor of an actor.
///
/// Its threads are those that also run Swift's tasks: dispatch's global queue, or the threads of `QuietTasks` after
/// `QuietTasks.begin`. So the thread that decodes a reply can continue with the task that waits for it, and more queues
/// don't need more threads. A queue with many jobs yields its thread to other queues between turns.
package final class DispatchExecutor: SerialExecutor {
  private enum Item: Sendable {
    case job(UnownedJob)
    case body(@Sendable () -> Void)
  }

  private struct State: Sendable {
    var items: [Item] = []
    /// A thread runs the queue, or was asked to.
    var isActive = false
  }

  private let state = Locked(State())
  /// The thread that runs the queue now; 0 when none does.
  private let thread = Atomic<UInt>(0)
  private let threads: WorkerThreads?

  /// A new queue. The label only documents the call.
  package init(label: String) { threads = nil }

  /// A queue that runs on `threads`.
  init(on threads: WorkerThreads) { self.threads = threads }

  /// Runs an actor's job; called by the Swift runtime.
  package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

  /// Runs `body` on the queue, after the jobs that are already in it.
  package func post(_ body: @escaping @Sendable () -> Void) { add(.body(body)) }

  /// Runs `body` on the calling thread as a job of the queue if the queue is idle. Otherwise does nothing and returns
  /// false.
  package func runIfIdle(_ body: () -> Void) -> Bool {
    let isIdle = state.withLock { state in
      defer { state.isActive = true }
      return !state.isActive
    }
    guard isIdle else { return false }
    enter(body)
    finishTurn()
    return true
  }

  // MARK: - Running jobs

  private func add(_ item: Item) {
    let isIdle = state.withLock { state in
      state.items.append(item)
      defer { state.isActive = true }
      return !state.isActive
    }
    if isIdle { schedule() }
  }

  private func schedule() {
    if let threads, !QuietTasks.isHandedOver { threads.submit(.queue(self)) } else { QuietTasks.submit(.queue(self)) }
  }

  /// Runs the jobs that are in the queue now. Jobs that are added meanwhile wait for the next turn.
  func drain() {
    let items = state.withLock { state in
      defer { state.items = [] }
      return state.items
    }
    enter {
      for item in items {
        switch item {
        case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .body(let body): body()
        }
      }
    }
    finishTurn()
  }

  private func enter(_ body: () -> Void) {
    thread.store(UInt(pthread_self()), ordering: .relaxed)
    body()
    thread.store(0, ordering: .relaxed)
  }

  private func finishTurn() {
    let hasMore = state.withLock { state in
      state.isActive = !state.items.isEmpty
      return state.isActive
    }
    if hasMore { schedule() }
  }

  // MARK: - Executor

  /// This executor, for an actor's `unownedExecutor`.
  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// The Swift runtime calls this for `assumeIsolated`.
  package func checkIsolated() {
    precondition(thread.load(ordering: .relaxed) == UInt(pthread_self()), "this must run on its actor's queue")
  }
}
