// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Dispatch
import Glibc
import TestSupport
import Testing

extension ProcessWide {
  @Suite struct SetupQueueTests {
    @Test func aSetupQueueRunsItsWorkInOrder() async throws {
      let queue = SetupQueue(label: "test")
      let noted = Watched<[Int]>([])
      for number in 0..<1_000 { queue.post { noted.update { $0.append(number) } } }
      #expect(await queue.run { noted.value.count } == 1_000)
      #expect(noted.value == Array(0..<1_000))
    }

    @Test func errorsKeepTheirType() async throws {
      do throws(AccessoryError) {
        _ = try await SetupQueue(label: "test").run { () throws(AccessoryError) -> Int in throw .disconnected("it") }
        Issue.record("it must throw")
      } catch {
        #expect(error == .disconnected("it"))
      }
    }

    /// A call that can't block runs on this thread while the queue is idle, and otherwise after the earlier calls.
    @Test func anIdleQueueRunsAtOnce() async throws {
      let queue = SetupQueue(label: "test")
      let (isBusy, mayEnd) = (Watched(false), DispatchSemaphore(value: 0))
      let here = Self.thread
      #expect(await queue.runAtOnce { Self.thread } == here)
      queue.post {
        isBusy.update { $0 = true }
        mayEnd.wait()
      }
      try await isBusy.wait { $0 }
      let noted = Watched<[Int]>([])
      queue.post { noted.update { $0.append(1) } }
      let last = Task { await queue.runAtOnce { noted.update { $0.append(2) } } }
      mayEnd.signal()
      await last.value
      #expect(noted.value == [1, 2])
    }

    /// This thread, in functions that aren't asynchronous.
    private static var thread: UInt { UInt(pthread_self()) }

    @Test func errorsOfCallsAtOnceKeepTheirType() async throws {
      do throws(AccessoryError) {
        _ = try await SetupQueue(label: "test").runAtOnce { () throws(AccessoryError) -> Int in
          throw .disconnected("it")
        }
        Issue.record("it must throw")
      } catch {
        #expect(error == .disconnected("it"))
      }
    }

    /// One sick device, or many, never stop another.
    @Test func blockedQueuesHoldUpNoOther() async throws {
      let mayGoOn = DispatchSemaphore(value: 0)
      let blocked = Watched(0)
      let count = 40
      for number in 0..<count {
        SetupQueue(label: "sick \(number)").post {
          blocked.update { $0 += 1 }
          mayGoOn.wait()
        }
      }
      try await blocked.wait { $0 == count }
      #expect(await SetupQueue(label: "well").run { 42 } == 42)
      for _ in 0..<count { mayGoOn.signal() }
    }
  }
}
