// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  /// The kernel does what the loop is built on.
  @Suite struct EpollQueueTests {
    private func withPipes(_ count: Int, _ body: ([(read: FileDescriptor, write: CInt)]) throws -> Void) throws {
      var pipes: [(read: FileDescriptor, write: CInt)] = []
      defer {
        for pipe in pipes {
          try? pipe.read.close()
          close(pipe.write)
        }
      }
      for _ in 0..<count {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        pipes.append((FileDescriptor(rawValue: ends[0]), ends[1]))
      }
      try body(pipes)
    }

    /// Tokens come from an I/O thread; these are taken from one that waits in a script.
    private func tokens(_ count: Int) throws -> [EventToken] {
      let io = IOThread(queue: ScriptedEventQueue())
      defer { io.stop() }
      return try (0..<count).map {
        try io.watch(FileDescriptor(rawValue: CInt(2_000 + $0)), for: [], handler: Nobody())
      }
    }

    private func poll(_ queue: EpollQueue) throws -> [QueuedEvent] {
      var events: [QueuedEvent] = []
      try queue.wait(into: &events, poll: true)
      return events
    }

    @Test func readinessIsToldAsLongAsItLasts() throws {
      let queue = try EpollQueue()
      let token = try tokens(1)[0]
      try withPipes(1) { pipes in
        let pipe = pipes[0]
        try queue.add(pipe.read, .read, token: token)
        #expect(try poll(queue) == [])
        #expect(write(pipe.write, "x", 1) == 1)
        for _ in 0..<2 { #expect(try poll(queue) == [QueuedEvent(token: token, readiness: .readable)]) }
        try queue.modify(pipe.read, [], token: token)
        #expect(try poll(queue) == [])
        try queue.modify(pipe.read, .read, token: token)
        #expect(try poll(queue) == [QueuedEvent(token: token, readiness: .readable)])
        queue.remove(pipe.read)
        #expect(try poll(queue) == [])
        queue.remove(pipe.read)
      }
    }

    @Test func aHangUpIsToldWhateverTheInterest() async throws {
      let queue = try EpollQueue()
      let token = try tokens(1)[0]
      let terminal = try openPseudoTerminal()
      let descriptor = FileDescriptor(rawValue: open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC))
      defer { try? descriptor.close() }
      try queue.add(descriptor, [], token: token)
      #expect(try poll(queue) == [])
      terminal.unplug()
      #expect(try poll(queue) == [QueuedEvent(token: token, readiness: [.hangUp, .error])])
      try queue.modify(descriptor, [.read, .write], token: token)
      #expect(try poll(queue) == [QueuedEvent(token: token, readiness: [.readable, .writable, .hangUp, .error])])
    }

    @Test func moreEventsThanOneWaitFetches() throws {
      let queue = try EpollQueue()
      let tokens = try tokens(200)
      try withPipes(200) { pipes in
        for (pipe, token) in zip(pipes, tokens) {
          try queue.add(pipe.read, .read, token: token)
          #expect(write(pipe.write, "x", 1) == 1)
        }
        var seen: Set<EventToken> = []
        for _ in 0..<4 { seen.formUnion(try poll(queue).compactMap(\.token)) }
        #expect(seen == Set(tokens))
      }
    }

    @Test func regularFilesAreRefused() throws {
      let queue = try EpollQueue()
      let token = try tokens(1)[0]
      let descriptor = FileDescriptor(rawValue: open("/etc/passwd", O_RDONLY | O_CLOEXEC))
      defer { try? descriptor.close() }
      #expect(throws: Errno.notPermitted) { try queue.add(descriptor, .read, token: token) }
    }

    @Test func aWakeUpBeforeTheWaitIsNotLostAndComesOnce() async throws {
      let queue = try EpollQueue()
      for _ in 0..<3 {
        queue.wake()
        queue.wake()
        try await blocking {
          var events: [QueuedEvent] = []
          try queue.wait(into: &events, poll: false)
        }
      }
      // It is edge-triggered: nothing is left that would wake again.
      queue.arm(.now)
      try await blocking {
        var events: [QueuedEvent] = []
        try queue.wait(into: &events, poll: false)
        #expect(events == [QueuedEvent(token: nil)])
        try queue.wait(into: &events, poll: true)
        #expect(events == [])
      }
    }

    @Test func theTimerCanBeMovedAndDisarmed() async throws {
      let queue = try EpollQueue()
      try await blocking {
        var events: [QueuedEvent] = []
        queue.arm(.now + .seconds(3_600))
        for moment in [MonotonicTime(nanoseconds: 0), MonotonicTime(nanoseconds: -5), .now] {
          queue.arm(moment)
          try queue.wait(into: &events, poll: false)
          #expect(events == [QueuedEvent(token: nil)])
        }
        queue.arm(.now + .seconds(3_600))
        queue.arm(nil)
        try queue.wait(into: &events, poll: true)
        #expect(events == [])
      }
    }

    @Test func whatItOpensItCloses() throws {
      let before = ThisProcess.descriptorCount
      for _ in 0..<10 { _ = try EpollQueue() }
      // What an earlier test closes in the background may be gone as well.
      #expect(ThisProcess.descriptorCount <= before)
    }
  }
}

private final class Nobody: EventHandler {
  func ready(_ readiness: Readiness) {}
}
