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
  /// What only the driver of a real port knows, on a pseudo-terminal whose answers are made up: RS-485, low latency,
  /// modem lines.
  @Suite struct DriverRequestTests {
    /// The memory of a driver.
    private struct Driver {
      var rs485 = serial_rs485()
      var flags: CInt = 0
      var lines: ModemLines = [.dtr, .rts, .cts]
      /// Each setting that was made, in order.
      var log: [String] = []
    }

    /// Runs `body` while a driver with all that answers in place of the pseudo-terminal's. `refusal` is what it says to
    /// whatever sets something.
    private func withDriver(
      _ first: Driver = Driver(), refusal: Errno? = nil, _ body: (borrowing Locked<Driver>) async throws -> Void
    ) async throws {
      let driver = Shared(first)
      typealias Answers = SystemCall.Interception
      defer { Answers.removeAnswers() }
      Answers.answer(TerminalRequest.GetRS485.self) { _, _ in .success(driver.state.withLock { $0.rs485 }) }
      Answers.answer(TerminalRequest.SetRS485.self) { request, _ in
        if let refusal { return .failure(refusal) }
        driver.state.withLock {
          $0.rs485 = request.settings
          $0.log.append("rs485 \(request.settings.flags) \(request.settings.delay_rts_before_send)")
        }
        return .success(())
      }
      Answers.answer(TerminalRequest.GetSerial.self) { _, _ in
        var serial = serial_struct()
        serial.flags = driver.state.withLock { $0.flags }
        return .success(serial)
      }
      Answers.answer(TerminalRequest.SetSerial.self) { request, _ in
        if let refusal { return .failure(refusal) }
        driver.state.withLock {
          $0.flags = request.serial.flags
          $0.log.append("flags \(request.serial.flags)")
        }
        return .success(())
      }
      Answers.answer(TerminalRequest.GetModemLines.self) { _, _ in .success(driver.state.withLock { $0.lines }) }
      Answers.answer(TerminalRequest.SetModemLines.self) { request, _ in
        if let refusal { return .failure(refusal) }
        driver.state.withLock {
          switch request.change {
          case .raise: $0.lines.formUnion(request.lines)
          case .lower: $0.lines.subtract(request.lines)
          case .replace: $0.lines = request.lines
          }
          $0.log.append("\(request.change) \(request.lines.rawValue)")
        }
        return .success(())
      }
      try await body(driver.state)
    }

    private final class Shared: Sendable {
      let state: Locked<Driver>
      init(_ driver: Driver) { state = Locked(driver) }
    }

    @Test func rs485IsSetAndPutBack() async throws {
      let terminal = try openPseudoTerminal()
      var first = Driver()
      first.rs485.delay_rts_before_send = 9
      try await withDriver(first) { driver in
        var configuration = TerminalConfiguration(path: terminal.path)
        var rs485 = TerminalConfiguration.RS485()
        (rs485.rtsOnSend, rs485.rtsAfterSend, rs485.receivesWhileSending) = (true, false, true)
        (rs485.delayBeforeSend, rs485.delayAfterSend) = (.milliseconds(2), .milliseconds(3))
        configuration.rs485 = rs485
        let transport = try await DescriptorTransport.open(configuration)
        let set = driver.withLock { $0.rs485 }
        #expect(set.flags == SHIM_RS485_ENABLED | SHIM_RS485_RTS_ON_SEND | SHIM_RS485_RX_DURING_TX)
        #expect(set.delay_rts_before_send == 2 && set.delay_rts_after_send == 3)
        #expect(try await transport.line?.status().rs485 == rs485)
        await transport.close()
        let after = driver.withLock { $0.rs485 }
        #expect(after.flags == 0 && after.delay_rts_before_send == 9, "as it was before")
      }
    }

    @Test func aDriverWithoutRS485IsToldAndNothingIsLeft() async throws {
      let terminal = try openPseudoTerminal()
      let before = try terminal.termios2()
      try await withDriver(refusal: .inappropriateIOCTLForDevice) { driver in
        var configuration = TerminalConfiguration(path: terminal.path, label: "the port")
        configuration.rs485 = TerminalConfiguration.RS485()
        let error = await #expect(throws: AccessoryError.self) { try await DescriptorTransport.open(configuration) }
        #expect(error?.kind == .unsupported)
        #expect(error?.message == "the driver of the port can't control RS-485")
        #expect(driver.withLock { $0.log }.isEmpty)
      }
      #expect(try terminal.termios2() == before)
      #expect(try !terminal.isExclusive())
    }

    @Test func lowLatencyIsAskedForAndTakenBack() async throws {
      let terminal = try openPseudoTerminal()
      var first = Driver()
      first.flags = 1 << 4  // somebody else's flag stays
      try await withDriver(first) { driver in
        var configuration = TerminalConfiguration(path: terminal.path)
        configuration.lowLatency = true
        let transport = try await DescriptorTransport.open(configuration)
        #expect(driver.withLock { $0.flags } == 1 << 4 | SHIM_LOW_LATENCY)
        #expect(try await transport.line?.status().isLowLatency == true)
        await transport.close()
        #expect(driver.withLock { $0.flags } == 1 << 4)
        #expect(driver.withLock { $0.log }.count == 2)
      }
    }

    /// It is a wish: who may not set it (EPERM) has the line all the same.
    @Test func lowLatencyThatIsRefusedIsNoError() async throws {
      let terminal = try openPseudoTerminal()
      try await withDriver(refusal: .notPermitted) { driver in
        var configuration = TerminalConfiguration(path: terminal.path)
        configuration.lowLatency = true
        let transport = try await DescriptorTransport.open(configuration)
        #expect(try await transport.line?.status().isLowLatency == false)
        await transport.close()
        #expect(driver.withLock { $0.log }.isEmpty)
      }
    }

    @Test func modemLinesAreSetTogether() async throws {
      let terminal = try openPseudoTerminal()
      try await withDriver { driver in
        var configuration = TerminalConfiguration(path: terminal.path)
        configuration.dtr = .off
        let transport = try await DescriptorTransport.open(configuration)
        #expect(driver.withLock { $0.log.last } == "lower \(ModemLines.dtr.rawValue)")
        let line = try #require(transport.line)
        #expect(try await line.modemLines() == [.rts, .cts])
        try await line.set(raising: .dtr, lowering: .rts)
        // One request, so that no state between them shows.
        #expect(driver.withLock { $0.log.last } == "replace \(([.dtr, .cts] as ModemLines).rawValue)")
        #expect(try await line.modemLines() == [.dtr, .cts])
        try await line.set(.rts, true)
        #expect(driver.withLock { $0.log.last } == "raise \(ModemLines.rts.rawValue)")
        await transport.close()
      }
    }

    @Test func anAnswerMayBeTheKernels() async throws {
      let terminal = try openPseudoTerminal()
      let asked = Watched(0)
      SystemCall.Interception.answer(TerminalRequest.SetSettings.self) { _, _ in
        asked.update { $0 += 1 }
        return nil
      }
      defer { SystemCall.Interception.removeAnswers() }
      let transport = try await DescriptorTransport.open(.init(path: terminal.path, baudRate: 4_321))
      #expect(asked.value > 0)
      #expect(try terminal.speeds() == (4_321, 4_321))
      await transport.close()
    }
  }
}
