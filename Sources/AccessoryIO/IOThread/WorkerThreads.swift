// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import DequeModule
import Dispatch
import Glibc

/// Threads that carry out work, first come, first served: never more than `limit`, however much there is.
///
/// A thread is started when there is work and none is free, and ends after five seconds without any; so many as are to be
/// kept stay. Dispatch's own queues can't be used for this: each serial queue that is woken may bring a thread of its own,
/// up to 255 of them (its `DISPATCH_WORKQ_MAX_PTHREAD_COUNT`), and where the system allows no more threads, the one that
/// adds to a queue sleeps until it does.
package final class WorkerThreads: Sendable {
  /// What a thread can be given.
  package enum Work: Sendable {
    /// What a queue holds.
    case queue(DispatchExecutor)
    /// A pointer to a job of Swift's runtime, which is no Sendable; handed over whole, to be run once.
    case job(UInt)
  }

  private struct State: Sendable {
    var work: Deque<Work> = []
    /// The semaphores of threads that wait, the one that worked last at the end.
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
  /// Bytes of a thread's stack: enough for what runs on dispatch's, and little of what `ulimit -v` allows.
  static let usualStackSize = 2 << 20

  /// Threads that the system calls `name`, of at most 15 bytes. `kept` of them don't end. `fallback` gets the work when
  /// there is nobody to do it and the system allows no thread; where some are kept there is none to need it.
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

  /// A thread couldn't be started. Those that there are do the work in turn; without any it is somebody else's.
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

  /// The next piece of work; without one, `worker` is idle from now on.
  private func next(_ worker: DispatchSemaphore) -> Work? {
    state.withLock { state in
      if let work = state.work.popFirst() { return work }
      if !state.idle.contains(where: { $0 === worker }) { state.idle.append(worker) }
      return nil
    }
  }

  /// Takes an idle thread out; false when it is to be kept, or is being woken.
  private func leave(_ worker: DispatchSemaphore) -> Bool {
    state.withLock { state in
      guard state.count > kept, let index = state.idle.firstIndex(where: { $0 === worker }) else { return false }
      state.idle.remove(at: index)
      state.count -= 1
      return true
    }
  }

  /// All but those that a fault of the thread itself brings: signals are for the program's own threads.
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
