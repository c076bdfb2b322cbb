// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  /// Whatever was going on, unplugging is one end, once, and the descriptor is closed.
  @Suite struct UnplugTests {
    /// Opens a terminal, does `body`, and expects the end that an unplugged device has.
    private func expectDisconnect(
      _ body: (TestTerminal, DescriptorTransport, InputReader) async throws -> Void
    ) async throws {
      let terminal = try openPseudoTerminal()
      let before = ThisProcess.openPaths(beginningWith: terminal.path)
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      let reader = InputReader(transport.input)
      try await body(terminal, transport, reader)
      let ending = try await reader.readToEnd()
      #expect(ending.error?.kind == .disconnected)
      #expect(ending.error?.message == "\(terminal.path) was disconnected")
      #expect(transport.output.offer([1]) == .closed(ending.error), "one outcome for both directions")
      #expect(!transport.output.hasSpaceAvailable)
      await transport.close()
      let after = ThisProcess.openPaths(beginningWith: terminal.path)
      #expect(after.count == before.count, "closed: \(after)")
      #expect(try await reader.readToEnd() == .init(error: ending.error), "a later close changes nothing")
    }

    @Test func unpluggingAnIdleTransportEndsIt() async throws {
      try await expectDisconnect { terminal, transport, reader in
        await IOThread.shared.barrier()
        terminal.unplug()
      }
    }

    @Test func theDescriptorIsClosedWithoutAnybodyAsking() async throws {
      let terminal = try openPseudoTerminal()
      let before = ThisProcess.openPaths(beginningWith: terminal.path).count
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      #expect(ThisProcess.openPaths(beginningWith: terminal.path).count == before + 1)
      terminal.unplug()
      _ = try await InputReader(transport.input).readToEnd()
      try await eventually("the descriptor to be closed") {
        ThisProcess.openPaths(beginningWith: terminal.path).count <= before
      }
    }

    @Test func bytesThatHadArrivedAreDeliveredFirst() async throws {
      try await CallLog.record { log in
        let terminal = try openPseudoTerminal()
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        let descriptor = try await log.first(.ioctl).descriptor
        try await terminal.write(pattern(300))
        // The kernel drops what a terminal has not read when it is hung up; all that was read comes first.
        try await eventually("all to be read") { transport.input.count == 300 }
        terminal.unplug()
        let ending = try await InputReader(transport.input).readToEnd()
        #expect(ending.bytes == pattern(300))
        #expect(ending.error?.kind == .disconnected)
        await transport.close()
        #expect(log.closeCount(of: descriptor) == 1)
      }
    }

    @Test func unpluggingAmidAWriteEndsIt() async throws {
      try await expectDisconnect { terminal, transport, reader in
        let writer = OutputWriter(transport.output)
        _ = try writer.fill { pattern(1_000, from: $0) }
        terminal.unplug()
        // Whoever waits for space is told, and finds the end.
        try await writer.notifications.wait { $0 > 0 }
        while true {
          let offered = transport.output.offer([1])
          if case .closed = offered { break }
          if offered == .full {
            try await writer.notifications.wait { [seen = writer.notifications.value] in $0 > seen }
          }
        }
      }
    }

    @Test func unpluggingAPausedTransportEndsIt() async throws {
      let terminal = try openPseudoTerminal()
      try await CallLog.record { log in
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        let descriptor = try await log.first(.ioctl).descriptor
        async let sending: Void = terminal.write(pattern(70_000))
        try await log.first(.epollControl, on: descriptor, after: 1)  // paused
        try await sending
        terminal.unplug()
        // Nobody takes anything, and yet it is noticed and the descriptor is closed.
        try await log.close(of: descriptor)
        let ending = try await InputReader(transport.input).readToEnd()
        #expect(ending.error?.kind == .disconnected)
        #expect(ending.bytes.count >= 65_536)
        #expect(ending.bytes == pattern(ending.bytes.count))
        await transport.close()
        #expect(log.closeCount(of: descriptor) == 1)
      }
    }

    /// A socket keeps what was written until it is read: all of it must come, and then the end.
    @Test(arguments: [false, true]) func nothingInTheKernelIsLost(isPaused: Bool) async throws {
      var ends: [CInt] = [-1, -1]
      try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_NONBLOCK | O_CLOEXEC, 0, &ends) == 0)
      let descriptor = FileDescriptor(rawValue: ends[0])
      var sent = 0
      let released = Watched(0)
      let piece = pattern(251 * 16)
      func send() { while write(ends[1], piece, piece.count) == piece.count { sent += piece.count } }
      let transport = DescriptorTransport(
        descriptor: descriptor, label: "socket", timing: .instant, io: .shared, setup: SetupQueue(label: "socket")
      ) {
        close(descriptor.rawValue)
        released.update { $0 += 1 }
      }
      if isPaused {
        // More than the queue takes: the rest stays in the kernel.
        while transport.input.count < 65_536 {
          try Task.checkCancellation()
          send()
          await IOThread.shared.barrier()
        }
      }
      send()
      close(ends[1])
      let ending = try await InputReader(transport.input).readToEnd()
      #expect(ending.error?.kind == .disconnected)
      // A last piece may have been cut short by the full socket.
      #expect(ending.bytes.count >= sent)
      #expect(ending.bytes == pattern(ending.bytes.count))
      await transport.close()
      #expect(released.value == 1)
    }

    /// So does a terminal for its master, other than the other way round.
    @Test func aPseudoTerminalsMasterKeepsTheLastWords() async throws {
      var (master, slave): (CInt, CInt) = (-1, -1)
      try #require(openpty(&master, &slave, nil, nil, nil) == 0)
      var settings = termios()
      tcgetattr(slave, &settings)
      cfmakeraw(&settings)
      tcsetattr(slave, TCSANOW, &settings)
      _ = fcntl(master, F_SETFL, O_NONBLOCK)
      let bytes = pattern(5_000)
      #expect(write(slave, bytes, bytes.count) == bytes.count)
      close(slave)
      let transport = DescriptorTransport(
        descriptor: FileDescriptor(rawValue: master), label: "master", timing: .instant, io: .shared,
        setup: SetupQueue(label: "master")
      ) { [master] in close(master) }
      let ending = try await InputReader(transport.input).readToEnd()
      #expect(ending.bytes == bytes)
      #expect(ending.error?.kind == .disconnected)
      await transport.close()
    }

    /// The cable is pulled just before each call that opening makes.
    @Test(arguments: 0..<8) func unpluggingWhileOpeningIsADisconnection(beforeCall number: Int) async throws {
      let terminal = try openPseudoTerminal()
      let before = ThisProcess.openPaths(beginningWith: "/dev/pts").count
      let calls = Atomic(0)
      try await CallLog.record(deciding: { call, _ in
        guard [.open, .ioctl, .flock].contains(call.call) else { return nil }
        if calls.add(1, ordering: .relaxed).oldValue == number { terminal.unplug() }
        return nil
      }) { log in
        do throws(AccessoryError) {
          let transport = try await DescriptorTransport.open(.init(path: terminal.path))
          // It came so late that the terminal was open: then the transport ends.
          terminal.unplug()
          let ending = try? await InputReader(transport.input).readToEnd()
          #expect(ending?.error?.kind == .disconnected)
          await transport.close()
        } catch {
          #expect(error.kind == .disconnected || number == 0 && error.kind == .notFound, "\(error)")
          #expect(error.message.contains(terminal.path))
        }
        let opened = Set(log.calls.value.filter { $0.call == .ioctl }.map(\.descriptor))
        for descriptor in opened { #expect(log.closeCount(of: descriptor) == 1) }
      }
      terminal.unplug()
      #expect(calls.load(ordering: .relaxed) > number, "opening makes so many calls")
      #expect(ThisProcess.openPaths(beginningWith: "/dev/pts").count <= before)
    }

    @Test func unpluggingWhileClosingIsNoError() async throws {
      let terminal = try openPseudoTerminal()
      let isClosing = Atomic(false)
      try await CallLog.record(deciding: { call, _ in
        // In the middle of putting the settings back.
        if isClosing.load(ordering: .relaxed), call.call == .ioctl { terminal.unplug() }
        return nil
      }) { log in
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        let descriptor = try await log.first(.ioctl).descriptor
        let reader = InputReader(transport.input)
        isClosing.store(true, ordering: .relaxed)
        await transport.close()
        #expect(try await reader.readToEnd() == .init(error: nil), "the owner's close came first")
        #expect(log.closeCount(of: descriptor) == 1)
      }
    }

    @Test func manyUnplugsAtOnceAreAllReported() async throws {
      let terminals = try (0..<20).map { _ in try openPseudoTerminal() }
      var transports: [DescriptorTransport] = []
      for terminal in terminals {
        transports.append(try await DescriptorTransport.open(.init(path: terminal.path)))
      }
      for terminal in terminals { terminal.unplug() }
      for transport in transports {
        #expect(try await InputReader(transport.input).readToEnd().error?.kind == .disconnected)
        await transport.close()
      }
    }
  }
}
