// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

/// The tools of other tests do what they say.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct TestSupportTests {
  @Test func aManualClockRunsWhatIsDueInOrderAtItsOwnMoment() {
    let clock = ManualClock(now: MonotonicTime(nanoseconds: 0))
    let noted = Watched<[Int64]>([])
    let note = { @Sendable () in noted.update { [now = clock.now.nanoseconds] in $0.append(now) } }
    _ = clock.schedule(at: clock.now + .nanoseconds(30), note)
    _ = clock.schedule(at: clock.now + .nanoseconds(10)) {
      note()
      _ = clock.schedule(at: clock.now + .nanoseconds(5), note)
    }
    let cancelled = clock.schedule(at: clock.now + .nanoseconds(20), note)
    clock.cancel(cancelled)
    #expect(clock.pendingCount == 2)
    clock.advance(by: .nanoseconds(29))
    #expect(noted.value == [10, 15])
    #expect(clock.now.nanoseconds == 29)
    #expect(clock.nextDeadline?.nanoseconds == 30)
    #expect(clock.advanceToNext())
    #expect(noted.value == [10, 15, 30])
    #expect(!clock.advanceToNext())
  }

  @Test func aSleepOnAManualClockEndsOnTime() async throws {
    let clock = ManualClock()
    async let slept: Void = clock.sleep(for: .seconds(3_600))
    try await clock.waitForPending()
    clock.advance(by: .seconds(3_599))
    #expect(clock.pendingCount == 1)
    clock.advance(by: .seconds(1))
    await slept
    #expect(clock.pendingCount == 0)
  }

  @Test func aCancelledSleepEndsAtOnceAndLeavesNoTimer() async throws {
    let clock = ManualClock()
    let task = Task { await clock.sleep(for: .seconds(3_600)) }
    try await clock.waitForPending()
    task.cancel()
    await task.value
    #expect(clock.pendingCount == 0)
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await clock.sleep(for: .seconds(3_600))
    }
    await late.value
    #expect(clock.pendingCount == 0)
  }

  @Test func aMemoryTransportEchoes() async throws {
    let transport = MemoryTransport { transport, bytes in transport.receive(bytes) }
    let reader = InputReader(transport.input)
    #expect(transport.output.offer([1, 2, 3]) == .accepted)
    #expect(try await reader.read(3) == [1, 2, 3])
    #expect(try await transport.nextWritten(2) == [1, 2])
    #expect(transport.written == [3])
    transport.unplug()
    #expect(try await reader.readToEnd() == .init(bytes: [], error: .disconnected("memory")))
  }

  @Test func aMemoryTransportStallsPausesAndCloses() async throws {
    let transport = MemoryTransport(inputHighWater: 4, outputHighWater: 4)
    transport.stall()
    #expect(transport.output.offer([1, 2, 3, 4]) == .accepted)
    #expect(!transport.output.hasSpaceAvailable)
    #expect(transport.written == [])
    transport.unstall()
    #expect(transport.written == [1, 2, 3, 4])
    #expect(!transport.receive([1, 2, 3, 4]))
    #expect(transport.isPaused)
    let reader = InputReader(transport.input)
    #expect(try await reader.read(4) == [1, 2, 3, 4])
    try await transport.waitForResume()
    await transport.close()
    #expect(transport.closeCount == 1)
    #expect(transport.output.offer([1]) == .closed(nil))
    #expect(try await reader.readToEnd() == .init(bytes: [], error: nil))
  }

  @Test func aWaitThatIsCancelledThrows() async throws {
    let watched = Watched(0)
    let task = Task { try await watched.wait { $0 == 1 } }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    watched.update { $0 = 1 }
    #expect(try await watched.wait { $0 == 1 } == 1)
  }
}
