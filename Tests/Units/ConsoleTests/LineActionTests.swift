// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import Console
import Testing

/// What a person does to a line from a console.
@Suite struct LineActionTests {
  private let line = MemoryLine(LineStatus(baudRate: 115_200, modemLines: [.dtr, .cts]))

  @Test func outputsOfTheLineAreToggled() async throws {
    #expect(try await LineAction.toggle(.dtr).perform(on: line) == "DTR off, RTS off, CTS on, DSR off, CD off, RI off")
    #expect(try await LineAction.toggle(.rts).perform(on: line) == "DTR off, RTS on, CTS on, DSR off, CD off, RI off")
    #expect(try await LineAction.toggle(.dtr).perform(on: line) == "DTR on, RTS on, CTS on, DSR off, CD off, RI off")
    #expect(line.state.value.status.modemLines == [.dtr, .rts, .cts])
    // An input is nobody's here.
    await #expect(throws: AccessoryError.self) { try await LineAction.toggle(.cts).perform(on: line) }
  }

  @Test func theLinesSettingsAreSetAndShown() async throws {
    #expect(try await LineAction.setBaud(9_600).perform(on: line) == "9600 baud, 8 data bits, no parity, 1 stop bit")
    line.state.update { state in
      state.status.parity = .even
      state.status.stopBits = 2
      state.status.flowControl = .hardware
    }
    #expect(
      try await LineAction.show.perform(on: line)
        == "9600 baud, 8 data bits, even parity, 2 stop bits, hardware flow control; "
        + "DTR on, RTS off, CTS on, DSR off, CD off, RI off")
    #expect(try await LineAction.show.perform(on: MemoryLine(LineStatus(baudRate: 300))).hasSuffix("; no modem lines"))
    #expect(!LineAction.show.isChange && LineAction.sendBreak.isChange && LineAction.setBaud(1).isChange)
  }

  @Test func aBreakLastsAndEnds() async throws {
    let (line, clock) = (line, ManualClock())
    let work = Task { try await LineAction.sendBreak.perform(on: line, clock: clock) }
    try await line.state.wait { $0.isBreaking }
    try await clock.waitForPending()
    clock.advance(by: .milliseconds(249))
    #expect(line.state.value.isBreaking)
    clock.advance(by: .milliseconds(1))
    #expect(try await work.value == "a break of 250 ms was sent")
    #expect(!line.state.value.isBreaking && line.state.value.breakCount == 1)
  }

  @Test func actionsOnAnUnpluggedLineAreDisconnected() async throws {
    line.end(AccessoryError.disconnected("memory"))
    for work in [LineAction.sendBreak, .toggle(.dtr), .setBaud(9_600), .show] {
      let error = await #expect(throws: AccessoryError.self) { try await work.perform(on: line) }
      #expect(error?.kind == .disconnected)
    }
  }
}
