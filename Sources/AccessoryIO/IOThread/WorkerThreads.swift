// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import DequeModule
import Dispatch
import Glibc

/// A pool of at most `limit` threads that run jobs in the order in which they were added.
///
/// A thread is started when there is a job and no idle thread, and ends after five idle seconds, unless it is one of
/// the `kept` ones. Dispatch's own queues can't be used for this: each serial queue that is woken may bring a thread of
/// its own, up to 255 of them (its `DISPATCH_WORKQ_MAX_PTHREAD_COUNT`), and where the system allows no more threads,
/// the one that adds to a queue sleeps until it does.
package final class WorkerThreads: Sendable {
  /// What a thread can be given.
  package enum Work: Sendable {
    /// What a queue holds.
    case queue(DispatchExecutor)
    /// A job of Swift's runtime isn't Sendable; each is passed on once and run once.
    case job(UInt)
  }

  private struct State: Sendable {
    var work: Deque<Work> = []
    /// The semaphores of idle threads; the thread that worked last is at the end.
    var idle: [DispatchSemaphore] = []
    var count = 0
  }

  private let state = Locked(State())
  private let name: String
  private let limit: Int
  private let kept: Int
  private let stackSize: Int
  private let fallback: (@Sendable (Work) -> Void)?

  private static let patience = 5
  /// The size of a thread's stack in bytes: as large as that of dispatch's threads, and small enough for a low `ulimit
  /// -v`.
  static let usualStackSize = 2 << 20

  /// A pool whose threads are called `name`, of at most 15 bytes. `kept` of them never end. If the system allows no
  /// thread and there is none, `fallback` gets the job.
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

  /// Threads that there are now.
  var count: Int { state.withLock { $0.count } }

  /// Starts the first thread, if there is none. False when the system allows none.
  func startFirst() -> Bool {
    let mustStart = state.withLock { state in
      if state.count > 0 { return false }
      state.count += 1
      return true
    }
    return mustStart ? start() : true
  }

  /// Queues work.
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

  /// A thread couldn't be started. The existing threads do the work; if there are none, `fallback` does.
  private func handOver() {
    guard let fallback else { return }
    let work = state.withLock { state in
      defer { if state.count == 0 { state.work = [] } }
      return state.count == 0 ? state.work : []
    }
    for one in work { fallback(one) }
  }

  // MARK: - A thread

  /// The thread was counted already.
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
        guard worker.wait(timeout: .now() + .seconds(Self.patience)) == .timedOut else { continue }
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

  /// Removes an idle thread from the pool; false when it must stay, or is being woken.
  private func leave(_ worker: DispatchSemaphore) -> Bool {
    state.withLock { state in
      guard state.count > kept, let index = state.idle.firstIndex(where: { $0 === worker }) else { return false }
      state.idle.remove(at: index)
      state.count -= 1
      return true
    }
  }

  /// All signals but those for faults of the thread itself: other signals belong to the program's own threads.
  private static func blockSignals() {
    var set = sigset_t()
    sigfillset(&set)
    for signal in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS] { sigdelset(&set, signal) }
    pthread_sigmask(SIG_SETMASK, &set, nil)
  }

  /// Does a piece of work on the calling thread.
  package static func perform(_ work: Work) {
    switch work {
    case .queue(let queue): queue.drain()
    case .job(let job): shim_run_task_job(UnsafeMutableRawPointer(bitPattern: job))
    }
  }
}
