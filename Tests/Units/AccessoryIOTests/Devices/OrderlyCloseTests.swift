// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  /// A close with bytes on their way. Where the clock is one moved by hand and nobody moves it, no time limit has part
  /// in the outcome.
  @Suite struct OrderlyCloseTests {
    private let clock = ManualClock()

    private func open(_ terminal: TestTerminal) async throws -> DescriptorTransport {
      try await DescriptorTransport.open(.init(path: terminal.path), clock: clock)
    }

    /// Fills the terminal's kernel buffer and the queue. The kernel may still take a little more later, while it moves
    /// bytes from one buffer of its own to the next.
    private func fill(_ transport: DescriptorTransport, _ terminal: TestTerminal) async throws -> Int {
      let writer = OutputWriter(transport.output)
      var count = 0
      while true {
        let more = try writer.fill { pattern(1_000, from: count + $0) }
        count += more
        for _ in 0..<3 { await IOThread.shared.barrier() }  // all that the kernel takes is written now
        if more == 0 { return count }
      }
    }

    @Test func aCommandWithoutReplyAndThenAClose() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let transport = try await open(terminal)
      #expect(transport.output.offer(pattern(20)) == .accepted)
      await transport.close()
      #expect(try await terminal.read(20) == pattern(20))
      #expect(clock.scheduledCount == 0, "nothing was left to wait for")
    }

    /// More than the terminal's other end has room for: the rest is on its way in the kernel, and a flush would drop it.
    @Test func whatTheKernelHasTakenIsTheDevices() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let transport = try await open(terminal)
      #expect(transport.output.offer(pattern(6_000)) == .accepted)
      await transport.close()
      #expect(clock.scheduledCount == 0, "the kernel has all of it")
      await (try await open(terminal)).close()
      #expect(try await terminal.read(6_000) == pattern(6_000))
    }

    @Test func aClosedTerminalIsOpenedAgain() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let transport = try await open(terminal)
      #expect(transport.output.offer(pattern(20)) == .accepted)
      await transport.close()
      let next = try await open(terminal)
      #expect(next.output.offer(pattern(20, from: 20)) == .accepted)
      #expect(try await terminal.read(40) == pattern(40))
      await next.close()
    }

    @Test func moreThanTheKernelTakes() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let transport = try await open(terminal)
      let count = try await fill(transport, terminal)
      #expect(transport.output.queuedCount > 0)
      async let closing: Void = transport.close()
      #expect(try await terminal.read(count) == pattern(count))
      await closing
      #expect(clock.pendingCount == 0)
    }

    @Test func beginningToCloseStillSendsWhatWasWritten() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let transport = try await open(terminal)
      let reader = InputReader(transport.input)
      let count = try await fill(transport, terminal)
      transport.beginClose()
      // The owner is done with it at once.
      #expect(try await reader.readToEnd() == .init(error: nil))
      #expect(transport.output.offer([1]) == .closed(nil))
      #expect(!transport.output.hasSpaceAvailable)
      #expect(try await terminal.read(count) == pattern(count))
      await transport.close()
    }

    @Test func aWriterThatWaitsIsToldAtOnce() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let transport = try await open(terminal)
      _ = try await fill(transport, terminal)
      let writer = OutputWriter(transport.output)
      while transport.output.offer(pattern(1_000)) == .accepted {}
      transport.beginClose()
      try await writer.notifications.wait { $0 > 0 }
      #expect(transport.output.offer([1]) == .closed(nil))
      terminal.unplug()
      await transport.close()
    }

    @Test func aDeviceThatTakesNothingEndsAtTheLimit() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let transport = try await open(terminal)
      _ = try await fill(transport, terminal)
      let waiting = transport.output.queuedCount
      let start = clock.now
      let isClosed = Watched(false)
      async let closing: Void = {
        await transport.close()
        isClosed.update { $0 = true }
      }()
      try await clock.waitForPending()
      let limit = try #require(clock.nextDeadline)
      #expect(limit > start + .milliseconds(500))
      #expect(limit <= start + .milliseconds(500) + transport.timing.time(of: waiting))
      clock.advance(by: limit - clock.now + .nanoseconds(-1))
      await IOThread.shared.barrier()
      #expect(!isClosed.value)
      #expect(transport.output.queuedCount > 0)
      clock.advance(by: .nanoseconds(1))
      await closing
      #expect(transport.output.queuedCount == 0)
      #expect(clock.pendingCount == 0)
    }

    @Test func unpluggingEndsTheWait() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let transport = try await open(terminal)
      let reader = InputReader(transport.input)
      _ = try await fill(transport, terminal)
      async let closing: Void = transport.close()
      try await clock.waitForPending()
      terminal.unplug()
      await closing
      #expect(clock.pendingCount == 0)
      #expect(try await reader.readToEnd() == .init(error: nil), "the owner's close came first")
      #expect(transport.output.offer([1]) == .closed(nil))
    }

    /// The kernel of a serial line holds on to bytes; a pseudo-terminal's doesn't say, so this one is made up.
    @Test func theKernelsQueueIsWaitedFor() async throws {
      var ends: [CInt] = [-1, -1]
      try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_NONBLOCK | O_CLOEXEC, 0, &ends) == 0)
      defer { close(ends[1]) }
      let unsent = Watched(10)
      let looks = Watched(0)
      let released = Watched(0)
      let transport = DescriptorTransport(
        descriptor: FileDescriptor(rawValue: ends[0]), label: "line", timing: .init(perByte: .milliseconds(1)),
        io: .shared, setup: SetupQueue(label: "line"),
        closing: .inOrder(
          unsent: {
            looks.update { $0 += 1 }
            return unsent.value
          }, hasLine: true),
        clock: clock
      ) { [descriptor = ends[0]] _ in
        close(descriptor)
        released.update { $0 += 1 }
      }
      #expect(transport.output.offer(pattern(12)) == .accepted)
      let start = clock.now
      async let closing: Void = transport.close()
      try await clock.waitForPending()
      #expect(clock.nextDeadline == start + .milliseconds(10))
      var count = clock.scheduledCount
      clock.advanceToNext()
      try await clock.waitForSchedule(after: count)
      unsent.update { $0 = 0 }
      count = clock.scheduledCount
      // Now the hardware has the last of them: at this speed until 12 ms after they were written.
      clock.advance(by: .milliseconds(1))
      #expect(released.value == 0)
      clock.advance(by: .milliseconds(9))
      await closing
      #expect(released.value == 1)
      #expect(looks.value >= 3)
      #expect(clock.pendingCount == 0)
    }

    @Test func closingWaitsOnlyWhileSomethingRemains() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let transport = try await open(terminal)
      #expect(transport.output.offer(pattern(20)) == .accepted)
      #expect(try await terminal.read(20) == pattern(20))
      try await terminal.write([1])
      _ = try await InputReader(transport.input).read(1)
      await transport.close()
      #expect(clock.scheduledCount == 0)
    }
  }
}
