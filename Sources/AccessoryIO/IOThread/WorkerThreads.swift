// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import DequeModule
import Dispatch
import Glibc

/// A pool of at most `limit` threads that run jobs in the order in which they were added.
///
/// A job starts a thread when no thread is idle. A thread ends after five idle seconds, unless it is one of the `kept`
/// ones. Dispatch's own queues can't be used for this: each serial queue that is woken may start a thread, up to 255
/// (its `DISPATCH_WORKQ_MAX_PTHREAD_COUNT`), and when the system refuses a new thread, the thread that adds to a queue
/// sleeps until one can be started.
package final class WorkerThreads: Sendable {
  /// The kinds of jobs.
  package enum Work: Sendable {
    /// A turn of a queue.
    case queue(DispatchExecutor)
    /// A job of Swift's runtime, as an address because the job isn't Sendable. Each job is passed on once and run once.
    case job(UInt)
  }

  private struct State: Sendable {
    var work: Deque<Work> = []
    /// The semaphores of idle threads; the thread that became idle last is at the end.
    var idle: [DispatchSemaphore] = []
    var count = 0
  }

  private let state = Locked(State())
  private let name: String
  private let limit: Int
  private let kept: Int
  private let stackSize: Int
  private let fallback: (@Sendable (Work) -> Void)?

  /// How long an idle thread waits for a job before it ends, in seconds.
  private static let idleTimeout = 5
  /// The size of a thread's stack in bytes: the same as dispatch's threads, and small enough for a low `ulimit -v`.
  static let usualStackSize = 2 << 20

  /// A pool whose threads are called `name` (at most 15 bytes). The last `kept` threads never end. If the pool has no
  /// thread and the system allows none, `fallback` gets the jobs.
  init(
    name: String, limit: Int, kept: Int = 0, stackSize: Int = usualStackSize,
    fallback: (@Sendable (Work) -> Void)? = nil
  ) {
    self.name = name
    self.stackSize = stackSize
    self.fallback = fallback
    self.limit = limit
    self.kept = kept
  }

  /// The number of threads now.
  var count: Int { state.withLock { $0.count } }

  /// Starts the first thread, if there is none. Returns false when the system allows none.
  func startFirst() -> Bool {
    let mustStart = state.withLock { state in
      if state.count > 0 { return false }
      state.count += 1
      return true
    }
    return mustStart ? start() : true
  }

  /// Queues a job.
  func submit(_ work: Work) {
    enum Next {
      case wake(DispatchSemaphore)
      case start, wait
    }
    let next: Next = state.withLock { state in
      state.work.append(work)
      if let worker = state.idle.popLast() { return .wake(worker) }
      guard state.count < limit else { return .wait }
      state.count += 1
      return .start
    }
    switch next {
    case .wake(let worker): worker.signal()
    case .start: if !start() { handOver() }
    case .wait: break
    }
  }

  /// Called when a thread couldn't be started. The existing threads do the work; if there are none, `fallback` gets it.
  private func handOver() {
    guard let fallback else { return }
    let work = state.withLock { state in
      defer { if state.count == 0 { state.work = [] } }
      return state.count == 0 ? state.work : []
    }
    for one in work { fallback(one) }
  }

  // MARK: - A thread

  /// Starts a thread that `count` already includes.
  private func start() -> Bool {
    if launch() { return true }
    state.withLock { $0.count -= 1 }
    return false
  }

  private func launch() -> Bool {
    let context = Unmanaged.passRetained(self).toOpaque()
    let result = shim_start_thread(
      { context in
        Unmanaged<WorkerThreads>.fromOpaque(context!).takeRetainedValue().begin()
        return nil
      }, context, stackSize)
    if result != 0 { Unmanaged<WorkerThreads>.fromOpaque(context).release() }
    return result == 0
  }

  private func begin() {
    shim_thread_name(name)
    Self.blockSignals()
    serve()
  }

  private func serve() {
    let worker = DispatchSemaphore(value: 0)
    var mayEnd = true
    while true {
      while let work = next(worker) {
        Self.perform(work)
        mayEnd = true
      }
      if mayEnd {
        guard worker.wait(timeout: .now() + .seconds(Self.idleTimeout)) == .timedOut else { continue }
        if leave(worker) { return }
        mayEnd = false
      } else {
        worker.wait()
      }
    }
  }

  /// The next job. If there is none, `worker` is marked idle.
  private func next(_ worker: DispatchSemaphore) -> Work? {
    state.withLock { state in
      if let work = state.work.popFirst() { return work }
      if !state.idle.contains(where: { $0 === worker }) { state.idle.append(worker) }
      return nil
    }
  }

  /// Removes an idle thread from the pool. Returns false when it must stay, or when it is being woken.
  private func leave(_ worker: DispatchSemaphore) -> Bool {
    state.withLock { state in
      guard state.count > kept, let index = state.idle.firstIndex(where: { $0 === worker }) else { return false }
      state.idle.remove(at: index)
      state.count -= 1
      return true
    }
  }

  /// Blocks all signals except those for faults of the thread itself. The program's own threads handle the other
  /// signals.
  private static func blockSignals() {
    var set = sigset_t()
    sigfillset(&set)
    for signal in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS] { sigdelset(&set, signal) }
    pthread_sigmask(SIG_SETMASK, &set, nil)
  }

  /// Runs a job on the calling thread.
  package static func perform(_ work: Work) {
    switch work {
    case .queue(let queue): queue.drain()
    case .job(let job): shim_run_task_job(UnsafeMutableRawPointer(bitPattern: job))
    }
  }
}
