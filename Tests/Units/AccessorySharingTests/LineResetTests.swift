// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessorySharing

/// Clients that reset a board by DTR and RTS. 8 and 9 are SET-CONTROL's DTR on and off, 11 and 12 RTS on and off.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct LineResetTests {
  private func setup(_ resets: [LineReset]) async throws -> (LineHub, TelnetTestClient) {
    let setup = LineHub { $0.resets = resets }
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    // Nobody looks at the modem lines: only scripts and their limit are scheduled.
    client.ask(.modemStateMask(0))
    #expect(try await client.message() == .modemStateMask(0))
    setup.clock.advance(by: .seconds(1))
    await setup.settle()
    #expect(setup.clock.pendingCount == 0)
    return (setup, client)
  }

  /// Each change, with the milliseconds since the one before.
  private func edges(_ setup: LineHub) -> [String] {
    let edges = setup.line.state.value.edges
    return edges.indices.map { index in
      let time = index == 0 ? .zero : edges[index].time - edges[index - 1].time
      return "\(time.inNanoseconds / 1_000_000) \(edges[index].outputs)"
    }
  }

  @Test func theBootLoaderSequenceRunsWithItsOwnTimes() async throws {
    let (setup, client) = try await setup(LineReset.esp)
    client.ask(.control(9))
    #expect(try await client.message() == .control(9))
    client.ask(.control(11))
    #expect(try await client.message() == .control(11))
    setup.clock.advance(by: .milliseconds(173))
    // All the rest is answered while the clock stands still.
    client.ask(.control(8), .control(12), .control(9))
    for answer: COMPortMessage in [.control(8), .control(12), .control(9)] {
      #expect(try await client.message() == answer)
    }
    client.send([1, 2, 3])
    await setup.settle()
    #expect(setup.device.written == [], "bytes behind the sequence wait for its end")
    try await setup.advanceToNext()
    try await setup.line.state.wait { $0.edges.count == 2 }
    try await setup.advanceToNext()
    try await setup.line.state.wait { $0.edges.count == 3 }
    #expect(edges(setup) == ["0 RTS", "273 DTR", "50 none"])
    #expect(try await setup.device.nextWritten(3) == [1, 2, 3])
    client.ask(.control(7), .control(10))
    #expect(try await client.message() == .control(9))
    #expect(try await client.message() == .control(12))
    await setup.hub.close()
  }

  /// The hub's own rules come before what the device's profile says.
  @Test(arguments: [false, true]) func theDevicesResetsCountWithoutRules(hasRules: Bool) async throws {
    let setup = LineHub { if hasRules { $0.resets = LineReset.arduino } }
    await setup.attach(resets: LineReset.esp)
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    client.ask(.modemStateMask(0), .control(9), .control(11), .control(8), .control(12), .control(9))
    for _ in 0..<6 { _ = try await client.message() }
    await setup.finishScripts()
    let seen = edges(setup)
    #expect(seen.contains("50 none") != hasRules, "\(seen)")
    #expect(seen.contains { $0.hasPrefix("250 ") } == hasRules, "\(seen)")
    await setup.hub.close()
  }

  @Test func aPlainResetHoldsTheChipForItsTime() async throws {
    let (setup, client) = try await setup(LineReset.esp)
    client.ask(.control(9), .control(12), .control(11), .control(12))
    for answer: COMPortMessage in [.control(9), .control(12), .control(11), .control(12)] {
      #expect(try await client.message() == answer)
    }
    await setup.finishScripts()
    let seen = edges(setup)
    // DTR off with RTS on begins one already, as on the board itself.
    #expect(seen.last == "100 none", "\(seen)")
    #expect(setup.line.state.value.status.modemLines == [])
    await setup.hub.close()
  }

  @Test func openingAPortResetsNothing() async throws {
    let (setup, client) = try await setup(LineReset.esp)
    client.ask(.control(8), .control(11))
    #expect(try await client.message() == .control(8))
    #expect(try await client.message() == .control(11))
    await setup.settle()
    #expect(setup.clock.pendingCount == 0)
    #expect(edges(setup) == [])
    await setup.hub.close()
  }

  @Test func anArduinoIsResetByDTR() async throws {
    let (setup, client) = try await setup(LineReset.arduino)
    client.ask(.control(9))
    #expect(try await client.message() == .control(9))
    client.ask(.control(8))
    #expect(try await client.message() == .control(8))
    await setup.finishScripts()
    #expect(edges(setup) == ["0 RTS", "250 DTR RTS"])
    await setup.hub.close()
  }

  @Test func aSequenceThatStopsHalfwayIsGivenUp() async throws {
    let (setup, client) = try await setup(LineReset.esp)
    client.ask(.control(9), .control(8))
    #expect(try await client.message() == .control(9))
    #expect(try await client.message() == .control(8))
    try await setup.advanceToNext(of: 2)
    try await setup.line.state.wait { $0.edges.count == 2 }
    try await setup.advanceToNext(of: 2)
    try await setup.line.state.wait { $0.status.modemLines == [] }
    while await setup.hub.scriptCount > 0 { await setup.settle() }
    // The client says that both are raised, and stays with that.
    try await setup.advanceToNext()
    try await setup.line.state.wait { $0.status.modemLines == [.dtr, .rts] }
    client.ask(.control(9))
    #expect(try await client.message() == .control(9))
    #expect(setup.line.state.value.status.modemLines == .rts)
    await setup.hub.close()
  }

  /// A client that asks for resets without end waits for them; they don't pile up.
  @Test func resetsOfAClientDoNotPileUp() async throws {
    let (setup, client) = try await setup(LineReset.arduino)
    for _ in 0..<1_000 { client.ask(.control(9), .control(8)) }
    await setup.settle()
    #expect(await setup.hub.scriptCount <= 4)
    await setup.hub.close()
  }

  /// The sequence of a client that has left doesn't keep other clients' changes from the line.
  @Test func aSequenceEndsWithItsClient() async throws {
    let (setup, client) = try await setup(LineReset.esp)
    let other = await TelnetTestClient(setup.hub)
    try await other.agree()
    other.ask(.modemStateMask(0))
    #expect(try await other.message() == .modemStateMask(0))
    client.ask(.control(9), .control(8))
    #expect(try await client.message() == .control(9))
    #expect(try await client.message() == .control(8))
    #expect(await setup.hub.detector?.current != nil)
    client.transport.unplug()
    while await setup.hub.clientCount > 1 { await setup.settle() }
    #expect(await setup.hub.detector?.current == nil)
    await setup.hub.close()
  }

  @Test func aDeviceThatGoesEndsTheSequence() async throws {
    let (setup, client) = try await setup(LineReset.esp)
    client.ask(.control(9), .control(8))
    #expect(try await client.message() == .control(9))
    #expect(try await client.message() == .control(8))
    try await setup.clock.waitForPending(2)
    setup.device.unplug()
    await setup.finishScripts()
    #expect(await setup.hub.scriptCount == 0)
    #expect(await setup.hub.detector == nil)
    await setup.hub.close()
  }

  @Test func whoMayNotChangeTheLineResetsNothing() async throws {
    let setup = LineHub {
      $0.resets = LineReset.esp
      $0.writers = .none
    }
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    client.ask(.control(9), .control(8))
    #expect(try await client.message() == .control(8))
    #expect(try await client.message() == .control(8))
    #expect(await setup.hub.scriptCount == 0)
    #expect(edges(setup) == [])
    await setup.hub.close()
  }

  @Test func wrongScriptsOfAResetAreRefused() {
    #expect(throws: AccessoryError.self) { try LineScript([]) }
    #expect(throws: AccessoryError.self) {
      try LineScript(Array(repeating: .wait(.zero), count: LineScript.mostSteps + 1))
    }
    #expect(throws: AccessoryError.self) { try LineScript([.wait(.seconds(6)), .wait(.seconds(5))]) }
    #expect(throws: AccessoryError.self) { try LineScript([.wait(.seconds(-1))]) }
    #expect(throws: AccessoryError.self) { try LineScript([.set(raising: .cts, lowering: [])]) }
    #expect(throws: AccessoryError.self) { try LineScript([.set(raising: .dtr, lowering: .dtr)]) }
  }
}
