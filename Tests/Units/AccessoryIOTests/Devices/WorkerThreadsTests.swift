// SPDX-License-Identifier: Apache-2.0

import Dispatch
import TestSupport
import Testing

@testable import AccessoryIO

extension ProcessWide {
  /// Many queues on few threads.
  @Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct WorkerThreadsTests {
    /// However many queues have something to do, and however often, there are no more threads.
    @Test func manyQueuesShareAFixedNumberOfThreads() async throws {
      let threads = WorkerThreads(name: "test-fixed", limit: 3)
      let queues = (0..<50).map { _ in DispatchExecutor(on: threads) }
      let done = Watched(0)
      for _ in 0..<200 { for queue in queues { queue.post { done.update { $0 += 1 } } } }
      #expect(ThisProcess.threadCount(named: "test-fixed") <= 3)
      try await done.wait { $0 == 10_000 }
      #expect((1...3).contains(threads.count))
    }

    /// A queue runs one thing at a time, in order, whichever threads serve it.
    @Test func aQueueRunsItsWorkInOrder() async throws {
      let threads = WorkerThreads(name: "test-order", limit: 4)
      let queues = (0..<8).map { _ in DispatchExecutor(on: threads) }
      let noted = (0..<8).map { _ in Watched<[Int]>([]) }
      for number in 0..<500 {
        for (queue, noted) in zip(queues, noted) { queue.post { noted.update { $0.append(number) } } }
      }
      for noted in noted { try await noted.wait { $0.count == 500 } }
      for noted in noted { #expect(noted.value == Array(0..<500)) }
    }

    /// A queue that always has more to do leaves the others their turns, also where there is one thread.
    @Test func aBusyQueueLeavesOthersTheirTurns() async throws {
      let threads = WorkerThreads(name: "test-turn", limit: 1)
      let (greedy, modest) = (DispatchExecutor(on: threads), DispatchExecutor(on: threads))
      let isOver = Watched(false)
      let done = Watched(0)
      @Sendable func again() { greedy.post { if !isOver.value { again() } } }
      again()
      for _ in 0..<100 {
        let count = done.value
        modest.post { done.update { $0 += 1 } }
        try await done.wait { $0 == count + 1 }
      }
      isOver.update { $0 = true }
    }

    @Test func onlyAnIdleQueueRunsWorkAtOnce() async throws {
      let queue = DispatchExecutor(on: WorkerThreads(name: "test-idle", limit: 1))
      var didRun = false
      #expect(queue.runIfIdle { didRun = true } && didRun)
      let mayGoOn = DispatchSemaphore(value: 0)
      let isThere = Watched(false)
      queue.post {
        isThere.update { $0 = true }
        mayGoOn.wait()
      }
      try await isThere.wait { $0 }
      #expect(!queue.runIfIdle { Issue.record("it is not idle") })
      mayGoOn.signal()
    }

    /// Where the system allows no thread at all, the work is handed to somebody else, once.
    @Test func noThreadIsAllowed() async throws {
      let done = Watched(0)
      let other = WorkerThreads(name: "test-other", limit: 1)
      // More than any process has room for: pthread_create(3) fails.
      let none = WorkerThreads(name: "test-none", limit: 2, stackSize: 1 << 60) { other.submit($0) }
      #expect(!none.startFirst() && none.count == 0)
      let queue = DispatchExecutor(on: none)
      for _ in 0..<100 { queue.post { done.update { $0 += 1 } } }
      try await done.wait { $0 == 100 }
      #expect(none.count == 0)
    }
  }
}
