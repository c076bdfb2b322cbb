// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import CLinuxShims
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryIO

extension ProcessWide {
  /// A line that is open: its settings, modem lines and break, as far as a pseudo-terminal has them.
  @Suite struct LineControlTests {
    private func open(_ terminal: TestTerminal) async throws -> (transport: DescriptorTransport, line: any LineControl)
    {
      let transport = try await DescriptorTransport.open(.init(path: terminal.path, label: "the port"))
      return (transport, try #require(transport.line))
    }

    /// Everything that a line can be asked for.
    private static let requests: [(String, @Sendable (any LineControl) async throws(AccessoryError) -> Void)] = [
      ("facts", { line async throws(AccessoryError) in _ = try await line.status() }),
      ("change", { line async throws(AccessoryError) in try await line.change(.init(baudRate: 300)) }),
      ("modemLines", { line async throws(AccessoryError) in _ = try await line.modemLines() }),
      ("set", { line async throws(AccessoryError) in try await line.set([.dtr], true) }),
      ("set two", { line async throws(AccessoryError) in try await line.set(raising: .dtr, lowering: .rts) }),
      ("setBreak", { line async throws(AccessoryError) in try await line.setBreak(true) }),
      ("purge", { line async throws(AccessoryError) in try await line.purge([.received, .unsent]) }),
    ]

    private func expectAllFail(
      _ line: any LineControl, with expected: AccessoryError, ignoringCode: Bool = false,
      sourceLocation: SourceLocation = #_sourceLocation
    ) async {
      for (name, request) in Self.requests {
        var error = await #expect(throws: AccessoryError.self, "\(name)", sourceLocation: sourceLocation) {
          try await request(line)
        }
        if ignoringCode { error?.code = nil }
        #expect(error == expected, "\(name)", sourceLocation: sourceLocation)
      }
    }

    // MARK: - Settings

    @Test func settingsAreChangedAndReadBackAndPutBackOnClose() async throws {
      let terminal = try openPseudoTerminal()
      let before = try terminal.termios2()
      let (transport, line) = try await open(terminal)
      #expect(transport.timing == .serial(baudRate: 115_200))
      let changed = try await line.change(.init(baudRate: 12_345, stopBits: 2, flowControl: .software))
      #expect(changed.baudRate == 12_345 && changed.stopBits == 2 && changed.flowControl == .software)
      #expect(try await line.status() == changed)
      #expect(try terminal.speeds() == (12_345, 12_345))
      #expect(transport.timing == .serial(baudRate: 12_345, bits: 11) && line.timing == transport.timing)
      // What isn't named stays.
      let again = try await line.change(.init(flowControl: LineFlowControl.none))
      #expect(again.baudRate == 12_345 && again.stopBits == 2 && again.flowControl == .none)
      let reader = InputReader(transport.input)
      try await terminal.write(pattern(256))
      #expect(try await reader.read(256) == pattern(256), "still raw")
      await transport.close()
      #expect(try terminal.termios2() == before)
    }

    /// As on opening: there is no line behind it, so there is nothing that its data bits could break.
    @Test func aPseudoTerminalTellsThatItHasEightDataBits() async throws {
      let terminal = try openPseudoTerminal()
      let (transport, line) = try await open(terminal)
      let facts = try await line.change(.init(baudRate: 2_400, dataBits: 7, parity: .even))
      #expect(facts.dataBits == 8 && facts.parity == .none && facts.baudRate == 2_400)
      #expect(transport.timing == .serial(baudRate: 2_400), "of what is in force")
      await transport.close()
    }

    @Test(
      arguments: [
        (LineChanges(baudRate: 0), "0 baud"), (LineChanges(dataBits: 9), "9 data bits"),
        (LineChanges(baudRate: 300, stopBits: 3), "3 stop bits"), (LineChanges(dataBits: .min), "data bits"),
      ])
    func wrongChangesOfALineAreMisconfigured(_ changes: LineChanges, _ said: String) async throws {
      let terminal = try openPseudoTerminal()
      try await CallLog.record { log in
        let (transport, line) = try await open(terminal)
        let (before, calls) = (try terminal.termios2(), log.count(.ioctl))
        let error = await #expect(throws: AccessoryError.self) { try await line.change(changes) }
        #expect(error?.kind == .misconfigured)
        #expect(error?.message.hasPrefix("the port can't be set to ") == true && error?.message.contains(said) == true)
        #expect(try terminal.termios2() == before && log.count(.ioctl) == calls)
        await transport.close()
      }
    }

    /// The driver has taken the settings, and then something fails: the line is as it was.
    @Test func settingsThatTheDriverRefusesLeaveThoseThatThereWere() async throws {
      let terminal = try openPseudoTerminal()
      let failing = Watched<Int?>(nil)
      try await CallLog.record { call, _ in
        guard call.call == .ioctl else { return nil }
        // Reading, setting, reading back.
        return failing.update { left in
          guard let count = left else { return nil }
          left = count > 1 ? count - 1 : nil
          return count == 1 ? .invalidArgument : nil
        }
      } _: { log in
        let (transport, line) = try await open(terminal)
        let (before, timing) = (try terminal.termios2(), transport.timing)
        failing.update { $0 = 3 }
        let error = await #expect(throws: AccessoryError.self) { try await line.change(.init(baudRate: 1_200)) }
        #expect(error?.kind == .unsupported)
        #expect(error?.message.contains("setting the port to 1200 baud") == true, "\(error as Any)")
        #expect(try terminal.termios2() == before && transport.timing == timing)
        await transport.close()
      }
    }

    // MARK: - Modem lines and break

    @Test func aPseudoTerminalHasNoModemLines() async throws {
      let terminal = try openPseudoTerminal()
      let (transport, line) = try await open(terminal)
      #expect(try await line.status().modemLines == nil)
      for (name, request) in Self.requests where name.hasPrefix("set ") || name == "set" || name == "modemLines" {
        let error = await #expect(throws: AccessoryError.self, "\(name)") { try await request(line) }
        #expect(error?.kind == .unsupported, "\(name)")
        #expect(error?.message.hasPrefix("the port can't \(name == "modemLines" ? "read" : "set") modem lines") == true)
      }
      await transport.close()
    }

    @Test func onlyOutputsCanBeSet() async throws {
      let terminal = try openPseudoTerminal()
      let (transport, line) = try await open(terminal)
      for (raised, lowered, said) in [
        ([.dtr, .cts], [], "CTS can't be set on the port"),
        ([.rts], [.cd, .dsr], "DSR and CD can't be set on the port"),
        ([.rts], [.rts], "a modem line of the port can't be raised and lowered in one call"),
      ] as [(ModemLines, ModemLines, String)] {
        let error = await #expect(throws: AccessoryError.self) {
          try await line.set(raising: raised, lowering: lowered)
        }
        #expect(error?.kind == .misconfigured && error?.message.hasPrefix(said) == true, "\(error as Any)")
      }
      await transport.close()
    }

    /// Whether a break is over shows on no pseudo-terminal; but there is one more call on the descriptor.
    @Test func aBreakThatGoesOnEndsWithTheClose() async throws {
      let terminal = try openPseudoTerminal()
      try await CallLog.record { log in
        var counts: [Int] = []
        for breaks in [[], [true], [true, false]] {
          let (transport, line) = try await open(terminal)
          for isOn in breaks { try await line.setBreak(isOn) }
          let before = log.count(.ioctl)
          await transport.close()
          counts.append(log.count(.ioctl) - before)
        }
        #expect(counts == [counts[0], counts[0] + 1, counts[0]])
      }
    }

    // MARK: - Bytes

    @Test func whatTheDriverHoldsIsThrownAway() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      let (transport, line) = try await open(terminal)
      // Nobody takes anything: the transport stops reading, and the rest stays in the kernel.
      var count = 0
      while count < 1 << 20 {
        guard let more = try terminal.writeSome(pattern(1_000, from: count)) else {
          let before = transport.input.count
          for _ in 0..<3 { await IOThread.shared.barrier() }
          if transport.input.count == before, transport.input.count >= 65_536 { break }
          continue
        }
        count += more
      }
      let taken = transport.input.count
      #expect(count > taken)
      try await line.purge([])
      try await line.purge(.unsent)
      try await line.purge(.received)
      let reader = InputReader(transport.input)
      #expect(try await reader.read(taken) == pattern(taken), "what is in our queue stays")
      try await terminal.write([250, 251, 252])
      #expect(try await reader.read(3) == [250, 251, 252], "and behind it comes what is sent now")
      await transport.close()
    }

    // MARK: - Who asks, and when

    @Test func aSessionControlsTheLineThroughTaps() async throws {
      final class Tap: TransportTap {
        func passed(_ direction: ByteDirection, _ bytes: RawSpan) {}
      }
      let terminal = try openPseudoTerminal()
      let (transport, _) = try await open(terminal)
      let session = AccessorySession(TappedTransport(TappedTransport(transport, tap: Tap()), tap: Tap()))
      let line = try #require(session.line)
      try await line.change(.init(baudRate: 4_800))
      #expect(try terminal.speeds() == (4_800, 4_800))
      #expect(session.transport.timing == .serial(baudRate: 4_800))
      await session.close()
      await expectAllFail(line, with: .closed("the port"))
    }

    @Test func whatIsNoSerialLineHasNone() async throws {
      #expect(LoopbackTransport().line == nil)
      let terminal = try await PseudoTerminal.open()
      #expect(terminal.transport.line == nil)
      await terminal.transport.close()
    }

    /// Whether the transport has seen it yet or not, and whether somebody closes it afterwards.
    @Test func lineControlFailsOnceUnplugged() async throws {
      let terminal = try openPseudoTerminal()
      let (transport, line) = try await open(terminal)
      terminal.unplug()
      await expectAllFail(line, with: .disconnected("the port"), ignoringCode: true)
      _ = try await InputReader(transport.input).readToEnd()
      await expectAllFail(line, with: .disconnected("the port"), ignoringCode: true)
      await transport.close()
      await expectAllFail(line, with: .disconnected("the port"))
    }

    /// Somebody who knows says that it is gone.
    @Test func lineControlFailsOnceTheDeviceIsRemoved() async throws {
      let terminal = try openPseudoTerminal()
      let (transport, line) = try await open(terminal)
      transport.deviceWasRemoved()
      _ = try await InputReader(transport.input).readToEnd()
      await transport.close()
      await expectAllFail(line, with: .disconnected("the port"))
    }
  }
}
