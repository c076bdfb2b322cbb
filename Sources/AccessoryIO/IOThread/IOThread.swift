// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import Synchronization
import SystemPackage

/// Handles the events of a watched descriptor. Called on the I/O thread only, and must not block.
package protocol EventHandler: AnyObject, Sendable {
  /// The descriptor has this readiness.
  func ready(_ readiness: Readiness)
}

/// Work for the I/O thread that can be queued without an allocation.
package protocol IOWork: AnyObject, Sendable {
  /// Does the work, on the I/O thread. Must not block.
  func perform()
}

/// The one thread that does all I/O: an event loop that is also an executor.
///
/// Actors with this `unownedExecutor` run on it, and the loop calls into them with `assumeIsolated`. So the compiler
/// checks that only this thread reads and writes descriptors. All members may be used from any thread.
public final class IOThread: SerialExecutor, TaskExecutor, TimerClock {
  /// The I/O thread of this process. It starts at first use and runs until the process ends. Traps if it can't be
  /// started for lack of descriptors, memory or threads; call `start` first to get an error instead.
  public static let shared: IOThread = {
    do throws(Errno) {
      return try started.get()
    } catch {
      fatalError("the event loop can't start: epoll, eventfd, timerfd or a thread is missing: \(error)")
    }
  }()

  private static let started = Result { () throws(Errno) in try IOThread(starting: EpollQueue()) }

  /// Starts the I/O thread of this process, unless it runs already. Throws `ioFailure` when the system has no
  /// descriptors, no memory or no thread left for it; every later call then throws the same error.
  public static func start() throws(AccessoryError) { try start(leaving: 0) }

  /// Like `start()`. Also throws when fewer than `spare` descriptors are left.
  package static func start(leaving spare: Int) throws(AccessoryError) {
    var kept: [FileDescriptor] = []
    defer { kept.forEach(SystemCall.close) }
    let error: Errno
    do throws(Errno) {
      _ = try started.get()
      while kept.count < spare { kept.append(try SystemCall.newEventDescriptor()) }
      return
    } catch let failure {
      error = failure
    }
    let isFull = error == .tooManyOpenFiles || error == .tooManyOpenFilesInSystem
    let advice = isFull ? ": raise the limit of open files (ulimit -n)" : ""
    throw AccessoryError(
      .ioFailure, code: .errno(error.rawValue), "starting the I/O thread: \(error.summary)\(advice)")
  }

  private enum Work {
    case job(UnownedJob)
    case object(any IOWork)
    case body(@Sendable () -> Void)
  }

  private struct Inbox {
    var work: [Work] = []
    var isAsleep = false
    var isStopping = false
  }

  private struct Timers {
    var queue = TimerQueue()
    /// The deadline that the event queue's timer is set to. Cancelling an action mostly leaves the timer alone: that sometimes
    /// costs one wake-up too many, but saves a system call for each request that is answered in time.
    var armed: MonotonicTime?
    /// How far ahead a timer is left alone that nobody needs. A later one is disabled: by then all may have been quiet for long.
    static let leftAlone = Duration.seconds(5)
  }

  /// The buffer that transports read into.
  let readBuffer = ReadBuffer()

  private let queue: any EventQueue
  private let inbox = Locked(Inbox())
  private let handlers = Locked(HandlerTable())
  private let timers = Locked(Timers())
  private let sharedObjects = Locked<[ObjectIdentifier: any AnyObject & Sendable]>([:])
  private let thread = Atomic<UInt>(0)
  private let wakeUpCount = Atomic<UInt64>(0)

  /// Starts a thread that waits in `queue`. Traps when the system can't start a thread.
  package convenience init(queue: any EventQueue) {
    do throws(Errno) {
      try self.init(starting: queue)
    } catch {
      fatalError("the I/O thread can't be started: \(error)")
    }
  }

  private init(starting queue: any EventQueue) throws(Errno) {
    self.queue = queue
    try startThread()
  }

  private func startThread() throws(Errno) {
    let context = Unmanaged.passRetained(self)
    var handle = pthread_t()
    let result = pthread_create(
      &handle, nil,
      { context in
        shim_thread_name("accessory-io")
        Signals.block([SIGPIPE])  // a write to a socket whose peer is gone then fails with EPIPE
        let io = Unmanaged<IOThread>.fromOpaque(context!).takeRetainedValue()
        io.thread.store(UInt(pthread_self()), ordering: .sequentiallyConsistent)
        io.run()
        return nil
      }, context.toOpaque())
    guard result == 0 else {
      context.release()
      throw Errno(rawValue: result)
    }
    pthread_detach(handle)
  }

  /// Ends the thread after it has done the work that is queued. For tests; the shared thread runs as long as the
  /// process.
  package func stop() {
    inbox.withLock { $0.isStopping = true }
    queue.wake()
  }

  /// How often the loop has woken up from waiting. Doesn't grow while the process is idle.
  public var wakeUps: UInt64 { wakeUpCount.load(ordering: .relaxed) }

  /// True on the I/O thread.
  public var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  // MARK: - Descriptors

  /// Watches `descriptor` and calls `handler` for its events. The handler is retained until `unwatch`.
  package func watch(
    _ descriptor: FileDescriptor, for interest: Interest, handler: any EventHandler
  ) throws(Errno) -> EventToken {
    let token = handlers.withLock { $0.add(handler) }
    do throws(Errno) {
      try queue.add(descriptor, interest, token: token)
    } catch {
      _ = handlers.withLock { $0.remove(token) }  // the caller holds a reference, so no deinit runs under the lock
      throw error
    }
    return token
  }

  /// Changes which events of a descriptor are reported.
  package func change(_ descriptor: FileDescriptor, _ token: EventToken, to interest: Interest) throws(Errno) {
    try queue.modify(descriptor, interest, token: token)
  }

  /// Stops watching. When called on the I/O thread, the handler isn't called again, not even for an event that was
  /// already fetched.
  package func unwatch(_ descriptor: FileDescriptor, _ token: EventToken) {
    queue.remove(descriptor)
    let handler = handlers.withLock { $0.remove(token) }
    _ = handler  // released outside the lock, because its deinit may call this thread's methods
  }

  /// The object of this type that belongs to the thread. The first call creates it with `body`.
  func shared<Object: AnyObject & Sendable, Failure: Error>(
    _ body: (IOThread) throws(Failure) -> Object
  ) throws(Failure) -> Object {
    try sharedObjects.withLock { objects throws(Failure) in
      if let object = objects[ObjectIdentifier(Object.self)] as? Object { return object }
      let new = try body(self)
      objects[ObjectIdentifier(Object.self)] = new
      return new
    }
  }

  // MARK: - Work

  /// Runs an actor's job; called by the Swift runtime.
  public func enqueue(_ job: consuming ExecutorJob) { post(.job(UnownedJob(job))) }

  /// Performs `work` on the I/O thread. Work runs in the order in which it was posted.
  package func post(_ work: any IOWork) { post(.object(work)) }

  /// Runs `body` on the I/O thread. Work runs in the order in which it was posted.
  public func post(_ body: @escaping @Sendable () -> Void) { post(.body(body)) }

  private func post(_ work: Work) {
    let mustWake = inbox.withLock { inbox in
      inbox.work.append(work)
      defer { inbox.isAsleep = false }
      return inbox.isAsleep
    }
    if mustWake { queue.wake() }
  }

  // MARK: - Time

  /// The current time.
  public var now: MonotonicTime { .now }

  /// The current time on `CLOCK_BOOTTIME`, which continues while the machine sleeps.
  public var bootTime: MonotonicTime { .boot }

  /// Runs `action` on the I/O thread at `deadline` or soon after.
  public func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    timers.withLock { timers in
      let token = timers.queue.schedule(at: deadline, action)
      if timers.armed.map({ deadline < $0 }) ?? true {
        timers.armed = deadline
        queue.arm(deadline)
      }
      return token
    }
  }

  /// Cancels a scheduled action.
  public func cancel(_ token: TimerToken) {
    timers.withLock { timers in
      timers.queue.cancel(token)
      guard timers.queue.isEmpty, let armed = timers.armed, armed - now > Timers.leftAlone else { return }
      timers.armed = nil
      queue.arm(nil)
    }
  }

  private func runDueTimers() {
    let now = MonotonicTime.now
    while let action = timers.withLock({ $0.queue.popDue(at: now) }) { action() }
    timers.withLock { timers in
      timers.armed = timers.queue.earliest
      if let next = timers.armed { queue.arm(next) }
    }
  }

  // MARK: - The loop

  private func run() {
    var work: [Work] = []
    var events: [QueuedEvent] = []
    while true {
      let isStopping = inbox.withLock { inbox in
        swap(&inbox.work, &work)
        return inbox.isStopping
      }
      if isStopping && work.isEmpty { return }
      for item in work { perform(item) }
      work.removeAll(keepingCapacity: true)
      // Work that is queued meanwhile runs after the events that are ready, so that neither delays the other without
      // limit.
      let hasMore = inbox.withLock { inbox in
        inbox.isAsleep = inbox.work.isEmpty && !inbox.isStopping
        return !inbox.isAsleep
      }
      do throws(Errno) {
        try queue.wait(into: &events, poll: hasMore)
      } catch {
        usleep(10_000)  // epoll_wait failed: retry later, without spinning
        continue
      }
      if !hasMore {
        wakeUpCount.add(1, ordering: .relaxed)
        inbox.withLock { $0.isAsleep = false }
      }
      // Timers run last: even when this thread is late, it handles bytes that arrived in time before it checks
      // timeouts.
      for event in events {
        if let token = event.token { handlers.withLock { $0[token] }?.ready(event.readiness) }
      }
      if events.contains(where: { $0.token == nil }) { runDueTimers() }
    }
  }

  private func perform(_ work: Work) {
    switch work {
    case .job(let job):
      job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    case .object(let work): work.perform()
    case .body(let body): body()
    }
  }

  // MARK: - Executor

  /// This executor, for an actor's `unownedExecutor`.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Traps unless called on the I/O thread. The runtime calls this for `assumeIsolated`.
  public func checkIsolated() { precondition(isCurrent, "this must run on the I/O thread") }

  /// Tells the runtime whether the caller is on the I/O thread.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
