// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Dispatch
import Glibc
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  @Suite struct IOThreadTests {
    private func withScript<Value>(_ body: (IOThread, ScriptedEventQueue) async throws -> Value) async throws -> Value {
      let queue = ScriptedEventQueue()
      let io = IOThread(queue: queue)
      defer { io.stop() }
      try await queue.waitUntilAsleep()
      return try await body(io, queue)
    }

    // MARK: - Work

    @Test func workIsDoneInTheOrderOfTheCalls() async throws {
      try await withScript { io, queue in
        let noted = Watched<[Int]>([])
        for number in 0..<1_000 { io.post { noted.update { $0.append(number) } } }
        try await noted.wait { $0.count == 1_000 }
        #expect(noted.value == Array(0..<1_000))
      }
    }

    @Test func nothingPostedFromManyThreadsIsLost() async throws {
      try await withScript { io, queue in
        let noted = Watched<[[Int]]>(Array(repeating: [], count: 8))
        try await blocking {
          DispatchQueue.concurrentPerform(iterations: 8) { poster in
            for number in 0..<2_000 { io.post { noted.update { $0[poster].append(number) } } }
          }
        }
        try await noted.wait { $0.allSatisfy { $0.count == 2_000 } }
        #expect(noted.value.allSatisfy { $0 == Array(0..<2_000) })
      }
    }

    @Test func theQueueIsWokenExactlyWhenItSleeps() async throws {
      try await withScript { io, queue in
        #expect(queue.asked.wakeCount == 0)
        let started = Watched(false)
        let mayEnd = DispatchSemaphore(value: 0)
        let done = Watched(0)
        io.post {
          started.update { $0 = true }
          mayEnd.wait()
        }
        try await started.wait { $0 }
        #expect(queue.asked.wakeCount == 1)
        for _ in 0..<100 { io.post { done.update { $0 += 1 } } }
        #expect(queue.asked.wakeCount == 1, "the loop is awake and looks again before it sleeps")
        mayEnd.signal()
        try await done.wait { $0 == 100 }
        try await queue.waitUntilAsleep()
        #expect(queue.asked.wakeCount == 1)
        #expect(io.wakeUps == 1)
      }
    }

    @Test func workPostedFromTheLoopNeedsNoWakeUp() async throws {
      try await withScript { io, queue in
        let done = Watched(0)
        io.post { io.post { io.post { done.update { $0 = 3 } } } }
        try await done.wait { $0 == 3 }
        #expect(queue.asked.wakeCount == 1)
      }
    }

    @Test func actorsNamedToItRunOnIt() async throws {
      try await withScript { io, queue in
        let counter = Counter(io)
        #expect(!io.isCurrent)
        for _ in 0..<100 { #expect(await counter.increment()) }
        #expect(await counter.count == 100)
      }
    }

    @Test func objectsAreWorkToo() async throws {
      try await withScript { io, queue in
        let work = Work()
        io.post(work)
        io.post(work)
        try await work.done.wait { $0 == 2 }
      }
    }

    // MARK: - Events

    @Test func anEventReachesItsHandlerAndNoOther() async throws {
      try await withScript { io, queue in
        let (a, b) = (Handler(), Handler())
        let tokenA = try io.watch(FileDescriptor(rawValue: 1_001), for: .read, handler: a)
        let tokenB = try io.watch(FileDescriptor(rawValue: 1_002), for: [.read, .write], handler: b)
        #expect(tokenA != tokenB)
        #expect(queue.asked.interests == [1_001: .read, 1_002: [.read, .write]])
        queue.deliver([QueuedEvent(token: tokenB, readiness: [.readable, .hangUp])])
        queue.deliver([QueuedEvent(token: tokenA, readiness: .writable)])
        try await a.seen.wait { $0 == [.writable] }
        #expect(b.seen.value == [[.readable, .hangUp]])
      }
    }

    @Test func anEventFetchedBeforeTheEndOfTheWatchGoesNowhere() async throws {
      try await withScript { io, queue in
        let (first, second, last) = (
          FileDescriptor(rawValue: 1_001), FileDescriptor(rawValue: 1_002), FileDescriptor(rawValue: 1_003)
        )
        let gone = Handler()
        let goneToken = try io.watch(second, for: .read, handler: gone)
        let remover = Handler { io.unwatch(second, goneToken) }
        let removerToken = try io.watch(first, for: .read, handler: remover)
        let end = Handler()
        let endToken = try io.watch(last, for: .read, handler: end)
        queue.deliver([removerToken, goneToken, endToken].map { QueuedEvent(token: $0, readiness: .readable) })
        try await end.seen.wait { !$0.isEmpty }
        #expect(gone.seen.value == [])
        #expect(Set(queue.asked.interests.keys) == [1_001, 1_003])
        // The number is used again: an event of the former owner must not reach the new one.
        let next = Handler()
        let nextToken = try io.watch(second, for: .read, handler: next)
        #expect(nextToken != goneToken)
        queue.deliver([goneToken, endToken].map { QueuedEvent(token: $0, readiness: .readable) })
        try await end.seen.wait { $0.count == 2 }
        #expect(next.seen.value == [])
      }
    }

    /// What has arrived when a timer is looked at comes before it, however the kernel orders them: a thread that is late
    /// must not take for silence what was none.
    @Test func timeComesBehindWhatHasArrived() async throws {
      try await withScript { io, queue in
        let order = Watched<[String]>([])
        let arrival = Handler { order.update { $0.append("arrival") } }
        let token = try io.watch(FileDescriptor(rawValue: 1_001), for: .read, handler: arrival)
        _ = io.schedule(at: io.now) { order.update { $0.append("time") } }
        queue.deliver([QueuedEvent(token: nil), QueuedEvent(token: token, readiness: .readable)])
        try await order.wait { $0.count == 2 }
        #expect(order.value == ["arrival", "time"])
      }
    }

    @Test func handlersAreHeldUntilTheWatchEnds() async throws {
      try await withScript { io, queue in
        weak var held: Handler?
        let descriptor = FileDescriptor(rawValue: 1_001)
        let token: EventToken
        do {
          let handler = Handler()
          held = handler
          token = try io.watch(descriptor, for: .read, handler: handler)
        }
        #expect(held != nil)
        io.unwatch(descriptor, token)
        #expect(held == nil)
      }
    }

    @Test func aDescriptorThatCanNotBeWatchedIsForgotten() async throws {
      try await withScript { io, queue in
        weak var held: Handler?
        queue.failAdd(.noMemory)
        do {
          let handler = Handler()
          held = handler
          #expect(throws: Errno.noMemory) {
            try io.watch(FileDescriptor(rawValue: 1_001), for: .read, handler: handler)
          }
        }
        #expect(held == nil)
      }
    }

    @Test func aWaitThatFailsLosesNothing() async throws {
      try await withScript { io, queue in
        let handler = Handler()
        let token = try io.watch(FileDescriptor(rawValue: 1_001), for: .read, handler: handler)
        queue.failWait(.noMemory)
        queue.deliver([QueuedEvent(token: token, readiness: .readable)])
        await io.barrier()
        try await handler.seen.wait { $0 == [.readable] }
        try await queue.waitUntilAsleep()
      }
    }

    // MARK: - Time

    @Test func theTimerIsArmedOnlyForAnEarlierMoment() async throws {
      try await withScript { io, queue in
        let now = io.now
        let hour = now + .seconds(3_600)
        let first = io.schedule(at: hour) {}
        #expect(queue.asked.armed == [hour])
        let later = io.schedule(at: hour + .seconds(1)) {}
        #expect(queue.asked.armed == [hour])
        let earlier = io.schedule(at: hour + .seconds(-1)) {}
        #expect(queue.asked.armed == [hour, hour + .seconds(-1)])
        for token in [first, earlier] { io.cancel(token) }
        #expect(queue.asked.armed.count == 2, "a request answered in time costs no system call")
        queue.deliver([QueuedEvent(token: nil)])
        await io.barrier()
        try await queue.waitUntilAsleep()
        #expect(queue.asked.armed.last == hour + .seconds(1), "what is left")
        io.cancel(later)
        queue.deliver([QueuedEvent(token: nil)])
        try await queue.waitUntilAsleep()
        let count = queue.asked.armed.count
        let last = io.schedule(at: hour + .seconds(10)) {}
        try await queue.waitUntilAsleep()
        #expect(queue.asked.armed.count == count + 1, "after nothing was left, the next moment is armed again")
        io.cancel(last)
      }
    }

    /// A call that may take half a minute was answered at once: nothing wakes the thread when that half a minute is over.
    @Test(arguments: [(31, true), (1, false)])
    func aTimerThatNobodyNeedsIsDisabledWhenItIsFarAway(seconds: Int, isDisabled: Bool) async throws {
      try await withScript { io, queue in
        let deadline = io.now + .seconds(seconds)
        io.cancel(io.schedule(at: deadline) {})
        #expect(queue.asked.armed == (isDisabled ? [deadline, nil] : [deadline]))
        let again = io.schedule(at: deadline) {}
        #expect(queue.asked.armed.last == deadline)
        io.cancel(again)
      }
    }

    @Test func dueActionsRunInOrderWhenTheTimeCameAndOnTheThread() async throws {
      try await withScript { io, queue in
        let noted = Watched<[Int]>([])
        let past = io.now + .seconds(-10)
        for (number, offset) in [(1, 3), (2, 1), (3, 2), (4, 1)] {
          _ = io.schedule(at: past + .seconds(offset)) {
            let isHere = io.isCurrent
            noted.update { $0.append(isHere ? number : -1) }
          }
        }
        let cancelled = io.schedule(at: past) { noted.update { $0.append(0) } }
        io.cancel(cancelled)
        #expect(noted.value == [])
        queue.deliver([QueuedEvent(token: nil)])
        try await noted.wait { $0.count == 4 }
        #expect(noted.value == [2, 4, 3, 1])
      }
    }

    @Test func realTimersFireInOrder() async throws {
      try await withIOThread { io in
        let noted = Watched<[Int]>([])
        let start = io.now
        // On the thread itself, so that all are there before the first one fires.
        io.post {
          for number in (0..<10).reversed() {
            _ = io.schedule(at: start + .milliseconds(number)) { noted.update { $0.append(number) } }
          }
        }
        try await noted.wait { $0.count == 10 }
        #expect(noted.value == Array(0..<10))
        #expect(io.now - start >= .milliseconds(9))
        await io.sleep(for: .milliseconds(1))
        await io.sleep(for: .seconds(-1))
        await io.sleep(for: .zero)
      }
    }

    // MARK: - The end

    @Test func stoppingDoesWhatIsQueuedAndLetsGoOfEverything() async throws {
      let freed = Watched(false)
      let done = Watched(0)
      _ = IOThread.shared
      do {
        let queue = ScriptedEventQueue { freed.update { $0 = true } }
        let io = IOThread(queue: queue)
        try await queue.waitUntilAsleep()
        let mayEnd = DispatchSemaphore(value: 0)
        io.post { mayEnd.wait() }
        for _ in 0..<10 { io.post { done.update { $0 += 1 } } }
        io.stop()
        mayEnd.signal()
      }
      try await freed.wait { $0 }
      #expect(done.value == 10)
      try await eventually("the thread to end") { ThisProcess.threadCount(named: "accessory-io") == 1 }
    }

    @Test func aWriteToAClosedSocketDoesNotEndTheProcess() async throws {
      try await withIOThread { io in
        let isBlocked = Watched<Bool?>(nil)
        io.post {
          var mask = sigset_t()
          pthread_sigmask(SIG_BLOCK, nil, &mask)
          let blocked = sigismember(&mask, SIGPIPE) == 1
          isBlocked.update { $0 = blocked }
        }
        try #require(try await isBlocked.wait { $0 != nil } == true)
        var ends: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_NONBLOCK | O_CLOEXEC, 0, &ends) == 0)
        defer { Glibc.close(ends[1]) }
        let descriptor = FileDescriptor(rawValue: ends[0])
        let transport = DescriptorTransport(
          descriptor: descriptor, label: "socket", timing: .instant, io: io, setup: SetupQueue(label: "socket")
        ) { try? descriptor.close() }
        let reader = InputReader(transport.input)
        shutdown(ends[1], CInt(SHUT_RD))  // no event here: only the write notices
        #expect(transport.output.offer([1, 2, 3]) == .accepted)
        #expect(try await reader.readToEnd().error == .disconnected("socket", code: .errno(EPIPE)))
        await transport.close()
      }
    }
  }
}

private actor Counter {
  private let io: IOThread
  private(set) var count = 0
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }
  init(_ io: IOThread) { self.io = io }

  /// True when it ran on the I/O thread.
  func increment() -> Bool {
    count += 1
    io.assertIsolated()
    return io.isCurrent
  }
}

private final class Handler: EventHandler {
  let seen = Watched<[Readiness]>([])
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void = {}) { self.body = body }

  func ready(_ readiness: Readiness) {
    body()
    seen.update { $0.append(readiness) }
  }
}

private final class Work: IOWork {
  let done = Watched(0)
  func perform() { done.update { $0 += 1 } }
}

extension IOThread {
  fileprivate nonisolated func assertIsolated() { precondition(isIsolatingCurrentContext() == true) }
}
