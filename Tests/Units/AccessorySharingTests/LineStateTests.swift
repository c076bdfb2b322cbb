// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessorySharing

/// Errors of the line, what there is to send, and telnet's Synch.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct LineStateTests {
  private func setup() async throws -> (LineHub, TelnetTestClient) {
    let setup = LineHub()
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    client.ask(.modemStateMask(0))
    #expect(try await client.message() == .modemStateMask(0))
    return (setup, client)
  }

  @Test func errorsAreToldToWhoAsksForThem() async throws {
    let (setup, client) = try await setup()
    setup.line.state.update { $0.activity?.parityErrors = 7 }
    client.ask(.lineStateMask(0x1E))
    #expect(try await client.message() == .lineStateMask(0x1E))
    // What was counted before is nobody's here.
    try await setup.advanceToNext()
    while await setup.hub.lineState.last == nil { await setup.settle() }
    setup.line.state.update { $0.activity?.framingErrors += 2 }
    try await setup.advanceToNext()
    #expect(try await client.message() == .lineState(8))
    setup.line.state.update {
      $0.activity?.overruns += 1
      $0.activity?.breaks += 1
    }
    try await setup.advanceToNext()
    #expect(try await client.message() == .lineState(0x12))
    setup.line.state.update { $0.activity?.parityErrors += 1 }
    try await setup.advanceToNext()
    #expect(try await client.message() == .lineState(4))
    await setup.hub.close()
  }

  @Test func nobodyLooksUnlessAMaskAsks() async throws {
    let (setup, client) = try await setup()
    setup.clock.advance(by: .milliseconds(200))
    await setup.settle()
    #expect(setup.clock.pendingCount == 0)
    client.ask(.lineStateMask(2))
    #expect(try await client.message() == .lineStateMask(2))
    let start = setup.clock.now
    for _ in 0..<10 { try await setup.advanceToNext() }
    // At most fifty times a second.
    #expect(setup.clock.now - start >= .milliseconds(200))
    client.ask(.lineStateMask(0))
    #expect(try await client.message() == .lineStateMask(0))
    while setup.clock.pendingCount > 0 {
      setup.clock.advance(by: .milliseconds(50))
      await setup.settle()
    }
    await setup.hub.close()
  }

  @Test func aQuestionIsAnsweredWithWhatThereIsToSend() async throws {
    let (setup, client) = try await setup()
    client.ask(.lineState(0))
    #expect(try await client.message() == .lineState(0x60))
    setup.line.state.update { $0.activity?.unsentCount = 12 }
    client.ask(.lineState(0))
    #expect(try await client.message() == .lineState(0x20))
    setup.line.state.update {
      $0.activity?.unsentCount = 0
      $0.activity?.breaks += 1
    }
    client.ask(.lineState(0), .lineState(0))
    #expect(try await client.message() == .lineState(0x70))
    #expect(try await client.message() == .lineState(0x60))
    await setup.hub.close()
  }

  @Test func aLineThatCountsNothingIsAskedOnce() async throws {
    let (setup, client) = try await setup()
    setup.line.state.update { $0.activity = nil }
    client.ask(.lineStateMask(0xFF))
    #expect(try await client.message() == .lineStateMask(0xFF))
    try await setup.advanceToNext()
    while await setup.hub.lineState.isPossible { await setup.settle() }
    client.ask(.lineState(0))
    #expect(try await client.message() == .lineState(0x60))
    await setup.settle()
    #expect(setup.clock.pendingCount == 0)
    await setup.hub.close()
  }

  @Test func aSynchThrowsAwayWhatIsBeforeItsMark() async throws {
    let (setup, client) = try await setup()
    setup.device.stall()
    client.send([1, 2, 3])
    await setup.settle()
    client.send([4, 5])
    // The notice of urgent data comes before these are read.
    await setup.hub.urgent(client.id)
    client.send([6] + COMPortMessage.control(9).bytes(fromServer: false) + [7, 0xFF, 0xF2, 8, 9])
    setup.device.unstall()
    // The line's time for the bytes before the change of DTR.
    while setup.line.state.value.edges.isEmpty {
      await setup.settle()
      setup.clock.advanceToNext()
    }
    #expect(try await client.message() == .control(9))
    while setup.device.written.suffix(2) != [8, 9] { await setup.settle() }
    let written = setup.device.written
    #expect(!written.contains(6) && !written.contains(7))
    // Without a notice a mark means nothing.
    client.send([10, 0xFF, 0xF2, 11])
    _ = try await setup.device.nextWritten(written.count)
    #expect(try await setup.device.nextWritten(2) == [10, 11])
    await setup.hub.close()
  }
}
