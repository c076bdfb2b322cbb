// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryIO

extension ProcessWide {
  /// Boards that reset when they are opened: the time they get, and the next open, which is to leave them alone.
  @Suite struct SettleTests {
    private let clock = ManualClock()

    private func configuration(_ terminal: TestTerminal) -> TerminalConfiguration {
      var configuration = TerminalConfiguration(path: terminal.path)
      configuration.settle = .seconds(2)
      return configuration
    }

    @Test func whatTheBoardSaysMeanwhileIsDropped() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let configuration = configuration(terminal)
      let opening = Task { [clock] in try await DescriptorTransport.open(configuration, clock: clock) }
      try await clock.waitForPending()
      #expect(clock.nextDeadline == clock.now + .seconds(2))
      #expect(try terminal.isExclusive(), "it is ours already")
      try await terminal.write(Array("boot loader, wait\r\n".utf8))
      clock.advance(by: .seconds(2))
      let transport = try await opening.value
      let reader = InputReader(transport.input)
      try await terminal.write([42])
      #expect(try await reader.read(1) == [42])
      // And nothing was sent before: the first byte is the first that was written.
      #expect(transport.output.offer([7]) == .accepted)
      #expect(try await terminal.read(1) == [7])
      await transport.close()
    }

    @Test func openingDoesNotReturnBefore() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let configuration = configuration(terminal)
      let isOpen = Watched(false)
      let opening = Task { [clock] in
        defer { isOpen.update { $0 = true } }
        return try await DescriptorTransport.open(configuration, clock: clock)
      }
      try await clock.waitForPending()
      clock.advance(by: .seconds(2) + .nanoseconds(-1))
      #expect(clock.pendingCount == 1)
      #expect(!isOpen.value)
      clock.advance(by: .nanoseconds(1))
      await (try await opening.value).close()
    }

    @Test func givingUpMeanwhilePutsEverythingBack() async throws {
      let terminal = try openPseudoTerminal()
      let before = try terminal.termios2()
      let configuration = configuration(terminal)
      let opening = Task { [clock] in try await DescriptorTransport.open(configuration, clock: clock) }
      try await clock.waitForPending()
      opening.cancel()
      let error = await #expect(throws: AccessoryError.self) { try await opening.value }
      #expect(error?.kind == .cancelled)
      #expect(try terminal.termios2() == before)
      #expect(try !terminal.isExclusive())
      #expect(clock.pendingCount == 0)
    }

    @Test func unpluggingWhileSettlingEndsTheTransport() async throws {
      let terminal = try openPseudoTerminal()
      let configuration = configuration(terminal)
      let opening = Task { [clock] in try await DescriptorTransport.open(configuration, clock: clock) }
      try await clock.waitForPending()
      terminal.unplug()
      clock.advance(by: .seconds(2))
      let transport = try await opening.value
      #expect(try await InputReader(transport.input).readToEnd().error?.kind == .disconnected)
      await transport.close()
    }

    /// HUPCL: whether the last close lowers DTR, which resets the board at the next open.
    @Test(arguments: [true, false]) func hangUpOnCloseStaysOffWithKeep(wasOn: Bool) async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let probe = try SystemCall.open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
      defer { SystemCall.close(probe) }
      var settings = try LineSettings(of: probe)
      settings.lowersLinesOnClose = wasOn
      try settings.apply(to: probe)
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      #expect(try await transport.line?.status().lowersLinesOnClose == false)
      await transport.close()
      #expect(try !LineSettings(of: probe).lowersLinesOnClose, "or the next open resets the board again")
    }

    @Test func aTerminalWithoutModemLinesIsNotOpenedWithOne() async throws {
      for set in [{ $0.dtr = .on }, { $0.dtr = .off }, { $0.rts = .on }] as [(inout TerminalConfiguration) -> Void] {
        let terminal = try openPseudoTerminal()
        let before = try terminal.termios2()
        var configuration = TerminalConfiguration(path: terminal.path)
        set(&configuration)
        guard case .failure(let error) = await opening(configuration) else {
          Issue.record("it opened")
          continue
        }
        #expect(error.kind == .unsupported)
        #expect(error.message.contains(configuration.dtr == .keep ? "RTS" : "DTR"))
        #expect(try terminal.termios2() == before)
        #expect(try !terminal.isExclusive())
      }
    }

    /// Begun and ended by the kernel's two calls, with the time between them. What the line does, no pseudo-terminal shows.
    @Test func aBreakLastsItsTime() async throws {
      let terminal = try openPseudoTerminal()
      try await CallLog.record { log in
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        let control = try #require(transport.line)
        let before = log.count(.ioctl)
        let sending = Task { [clock] in try await control.sendBreak(for: .milliseconds(250), clock: clock) }
        try await clock.waitForPending()
        #expect(clock.nextDeadline == clock.now + .milliseconds(250))
        #expect(log.count(.ioctl) == before + 1)
        clock.advance(by: .milliseconds(250))
        try await sending.value
        #expect(log.count(.ioctl) == before + 2)
        await transport.close()
      }
    }

    /// What a pseudo-terminal keeps of a line's settings is what was asked for, read by the other end.
    @Test func theOtherEndSeesStopBitsAndFlowControl() async throws {
      let flags: (TestTerminal) throws -> (input: UInt32, control: UInt32) = { terminal in
        let bytes = try terminal.termios2()
        func word(_ at: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << UInt32(8 * $1) } }
        return (word(0), word(8))
      }
      for flow in TerminalConfiguration.FlowControl.allCases {
        for stopBits in [1, 2] {
          let terminal = try openPseudoTerminal()
          var configuration = TerminalConfiguration(path: terminal.path)
          (configuration.flowControl, configuration.stopBits) = (flow, stopBits)
          let transport = try await DescriptorTransport.open(configuration)
          let (input, control) = try flags(terminal)
          #expect((control & UInt32(CSTOPB) != 0) == (stopBits == 2))
          #expect((control & SHIM_CRTSCTS != 0) == (flow == .hardware))
          #expect((input & UInt32(IXON | IXOFF) == UInt32(IXON | IXOFF)) == (flow == .software))
          #expect((input & UInt32(IXON | IXOFF) == 0) == (flow != .software))
          let facts = try await transport.line?.status()
          #expect(facts?.stopBits == stopBits)
          #expect(facts?.flowControl == flow)
          #expect(facts?.modemLines == nil)
          #expect(facts?.rs485 == nil)
          await transport.close()
        }
      }
    }
  }
}
