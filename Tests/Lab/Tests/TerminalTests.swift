// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// Accessories on the kernel's own USB serial drivers, cdc_acm and ftdi_sio.
  @Suite struct TerminalTests {
    // MARK: - The line

    /// What is asked of the line arrives at the device, and is read back as it is.
    @Test(arguments: [SimulatedUSBIdentity.Kind.modem, .ftdi])
    func theLinesSettingsReachTheDevice(kind: SimulatedUSBIdentity.Kind)
      async throws
    {
      let plugged = try await PluggedIn(kind)
      for (baud, bits, parity, stop) in [
        (9_600, 8, TerminalConfiguration.Parity.none, 1), (115_200, 7, .even, 2), (250_000, 8, .odd, 1),
        (1_000_000, 8, .mark, 1), (19_200, 8, .space, 2),
      ] as [(UInt32, Int, TerminalConfiguration.Parity, Int)] {
        let transport = try await plugged.openTerminal {
          ($0.baudRate, $0.dataBits, $0.parity, $0.stopBits) = (baud, bits, parity, stop)
        }
        try await plugged.waitForLine { line in
          Int(line.dataBits) == bits && line.parity.rawValue == parity.rawValue && line.stopBits == Double(stop)
            // A divisor doesn't make every rate: within 3 % is what a line needs.
            && abs(Double(line.baudRate) / Double(baud) - 1) < 0.03
        }
        let facts = try await transport.line?.status()
        #expect(facts?.dataBits == bits)
        #expect(facts?.parity == parity)
        #expect(facts?.stopBits == stop)
        await transport.close()
      }
      try await plugged.stop()
    }

    @Test(arguments: [SimulatedUSBIdentity.Kind.modem, .ftdi])
    func modemLinesAndBreakReachTheDevice(kind: SimulatedUSBIdentity.Kind)
      async throws
    {
      let plugged = try await PluggedIn(kind)
      let transport = try await plugged.openTerminal {
        $0.dtr = .on
        $0.rts = .off
      }
      let control = try #require(transport.line)
      try await plugged.waitForLine { $0.dtr && !$0.rts }
      try await control.set(.rts, true)
      try await plugged.waitForLine { $0.dtr && $0.rts }
      try await control.set(.dtr, false)
      try await plugged.waitForLine { !$0.dtr && $0.rts }
      try await control.set([.dtr, .rts], true)
      try await plugged.waitForLine { $0.dtr && $0.rts }
      let lines = try await control.status().modemLines
      #expect(lines?.isSuperset(of: [.dtr, .rts, .dsr, .cd]) == true)
      try await control.sendBreak(for: .milliseconds(1))
      try await plugged.waitForLine { $0.breaks == 1 && !$0.isBreak }
      await transport.close()
      // With DTR turned on by the user, closing turns it off.
      try await plugged.waitForLine { !$0.dtr }
      try await plugged.stop()
    }

    /// With `keep`, DTR stays raised when the port is closed, so that the next open doesn't reset a board.
    @Test(arguments: [SimulatedUSBIdentity.Kind.modem, .ftdi])
    func keptLinesStayRaisedOverAClose(kind: SimulatedUSBIdentity.Kind)
      async throws
    {
      let plugged = try await PluggedIn(kind)
      let first = try await plugged.openTerminal()
      try await plugged.waitForLine { $0.dtr }
      #expect(try await first.line?.status().lowersLinesOnClose == false)
      await first.close()
      let changes = plugged.events.value.count
      let second = try await plugged.openTerminal()
      #expect(try await second.line?.status().modemLines?.contains(.dtr) == true)
      await second.close()
      let lines = plugged.events.value.dropFirst(changes).compactMap { event -> HostLineSettings? in
        if case .line(let line) = event { line } else { nil }
      }
      #expect(lines.allSatisfy { $0.dtr }, "never lowered in between: \(lines)")
      try await plugged.stop()
    }

    /// The driver of FTDI adapters sets the chip's timer to a millisecond when asked for low latency.
    @Test func lowLatencySetsTheAdaptersTimer() async throws {
      let plugged = try await PluggedIn(.ftdi)
      let quick = try await plugged.openTerminal()
      try await plugged.waitForLine { $0.latencyTimer == .milliseconds(1) }
      let facts = try await quick.line?.status()
      #expect(facts?.isLowLatency == true)
      #expect(facts?.latencyTimer == .milliseconds(1))
      await quick.close()
      try await plugged.waitForLine { $0.latencyTimer == .milliseconds(16) }
      let slow = try await plugged.openTerminal { $0.lowLatency = false }
      #expect(try await slow.line?.status().latencyTimer == .milliseconds(16))
      await slow.close()
      try await plugged.stop()
    }
  }
}
