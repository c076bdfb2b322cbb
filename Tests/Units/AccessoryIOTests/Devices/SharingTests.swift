// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  /// A port has one owner, and who can't have it is told who that is.
  @Suite struct SharingTests {
    private func errorOpening(_ path: String, label: String? = nil) async -> AccessoryError? {
      do throws(AccessoryError) {
        let transport = try await DescriptorTransport.open(.init(path: path, label: label))
        await transport.close()
        return nil
      } catch {
        return error
      }
    }

    @Test func aSecondOpenInThisProgramIsBusy() async throws {
      let terminal = try openPseudoTerminal()
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      let settings = try terminal.termios2()
      let error = try #require(await errorOpening(terminal.path))
      #expect(error.kind == .busy)
      #expect(error.message == "\(terminal.path) is open already in this program")
      #expect(try terminal.termios2() == settings, "who is refused changes nothing")
      #expect(try terminal.isExclusive())
      try await OutputWriter(transport.output).write([7])
      #expect(try await terminal.read(1) == [7])
      await transport.close()
      #expect(await errorOpening(terminal.path) == nil)
    }

    /// A program that was killed leaves its exclusive mode on; whoever opens the terminal before the other end has turned it off waits.
    @Test func theExclusiveModeOfAKilledProgramIsWaitedOut() async throws {
      let terminal = try openPseudoTerminal()
      let descriptor = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
      try #require(descriptor >= 0 && ioctl(descriptor, 0x540C) == 0)  // TIOCEXCL
      async let opened = DescriptorTransport.open(TerminalConfiguration(path: terminal.path))
      // As the simulator does when it sees that nobody has the terminal open any more.
      try await blocking {
        usleep(30_000)
        _ = ioctl(descriptor, 0x540D)  // TIOCNXCL
      }
      let transport = try await opened
      #expect(try terminal.isExclusive())
      await transport.close()
      close(descriptor)
    }

    @Test(arguments: ["lock", "exclusive", "open"])
    func aTerminalOpenInAnotherProgramIsBusy(_ how: String) async throws {
      let terminal = try openPseudoTerminal()
      let child = try ChildProcess(how, terminal.path)
      #expect(["holds", "open"].contains(try await child.readLine()))
      let wasExclusive = try terminal.isExclusive()
      let settings = try terminal.termios2()
      let error = try #require(await errorOpening(terminal.path, label: "the robot"))
      #expect(error.kind == .busy)
      #expect(error.message == "the robot is in use by TestChild (pid \(child.pid))")
      #expect(try terminal.isExclusive() == wasExclusive)
      #expect(try terminal.termios2() == settings)
      child.closeInput()
      #expect(try await child.wait() == 0)
      if how == "exclusive" {
        // The test holds the terminal open, so nobody takes the mode back: still busy, and not with a stale name.
        let error = try #require(await errorOpening(terminal.path))
        #expect(error.kind == .busy)
        #expect(!error.message.contains("pid \(child.pid)"))
      } else {
        #expect(await errorOpening(terminal.path) == nil)
      }
    }

    @Test func anotherProgramCanNotTakeWhatIsOpenHere() async throws {
      let terminal = try openPseudoTerminal()
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      let child = try ChildProcess("open", terminal.path)
      let answer = try await child.readLine()
      #expect(answer.hasPrefix("busy: \(terminal.path) is in use by "))
      #expect(answer.hasSuffix("(pid \(getpid()))"))
      await transport.close()
    }

    /// The exclusive mode binds users other than root, so they fail at `open` and see less of the holder.
    @Test func anotherUserIsToldToo() async throws {
      let terminal = try openPseudoTerminal()
      chmod(terminal.path, 0o666)
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      let child = try ChildProcess("open-as-nobody", terminal.path)
      let answer = try await child.readLine()
      #expect(answer.hasPrefix("busy: \(terminal.path) is in use by "))
      #expect(answer.hasSuffix("(pid \(getpid()))"))
      await transport.close()
    }

    // MARK: - Our own pseudo-terminals

    @Test func aProgramThatIsKilledLeavesThePseudoTerminalFree() async throws {
      let pseudoTerminal = try await PseudoTerminal.open()
      for _ in 0..<5 {
        let child = try ChildProcess("open", pseudoTerminal.path)
        #expect(try await child.readLine() == "open")
        try await child.kill()
        let next = try await ChildProcess.open(pseudoTerminal.path)
        next.closeInput()
        #expect(try await next.readLine() == "closed")
        #expect(try await next.wait() == 0)
      }
      await pseudoTerminal.transport.close()
    }

    @Test func whoIsRefusedDoesNotEndTheOwnersExclusiveMode() async throws {
      let pseudoTerminal = try await PseudoTerminal.open()
      chmod(pseudoTerminal.path, 0o666)
      let owner = try ChildProcess("exclusive", pseudoTerminal.path)  // takes no lock: only the mode protects it
      #expect(try await owner.readLine() == "holds")
      for _ in 0..<5 {
        // As root it gets as far as to close again; the pseudo-terminal sees that.
        let error = try #require(await errorOpening(pseudoTerminal.path))
        #expect(error.kind == .busy)
      }
      // The next must still find it taken, after every closing before was seen.
      try await PseudoTerminal.settle()
      let nobody = try ChildProcess("open-as-nobody", pseudoTerminal.path)
      #expect(try await nobody.readLine().hasPrefix("busy: "))
      owner.closeInput()
      #expect(try await owner.wait() == 0)
      try await eventually("the pseudo-terminal to be free") {
        let descriptor = open(pseudoTerminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        defer { close(descriptor) }
        var exclusive: CInt = 1
        return ioctl(descriptor, 0x8004_5440, &exclusive) == 0 && exclusive == 0
      }
      await pseudoTerminal.transport.close()
    }
  }
}

extension ChildProcess {
  /// Starts a child that opens `path`, again while it is told that the port is busy.
  fileprivate static func open(_ path: String) async throws -> ChildProcess {
    let end = ContinuousClock.now + Duration.seconds(20).patient
    while true {
      let child = try ChildProcess("open", path)
      let answer = try await child.readLine()
      if answer == "open" { return child }
      if ContinuousClock.now > end { throw Hang("\(path) to be free: \(answer)") }
    }
  }
}

extension PseudoTerminal {
  /// Waits until everything that happened to pseudo-terminals so far was seen: the kernel's events are queued at once,
  /// and the loop serves all that are there before it does work posted afterwards.
  fileprivate static func settle() async throws {
    for _ in 0..<3 { await IOThread.shared.barrier() }
  }
}
