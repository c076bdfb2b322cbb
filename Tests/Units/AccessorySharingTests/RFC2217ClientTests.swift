// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessoryIO

/// The client of RFC 2217 at a server that the test plays, by a clock that it moves.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct RFC2217ClientTests {
  private struct Setup {
    let server = MemoryTransport(label: "server")
    let clock = ManualClock()
    let client: RFC2217Transport
    let line: any LineControl

    init() async throws {
      client = RFC2217Transport(server, label: "the line", io: .shared, clock: clock)
      line = try #require(client.line)
      async let agreed: Void = client.negotiate(within: .seconds(60), clock: clock)
      _ = try await server.nextWritten(15)
      server.receive([0xFF, 0xFD, 44])
      try await agreed
    }

    /// The next thing that is asked.
    func question() async throws -> COMPortMessage {
      var decoder = TelnetDecoder()
      var events: [TelnetDecoder.Event] = []
      while true {
        if case .subnegotiation(44, let payload)? = events.first {
          return try #require(COMPortMessage(payload, fromServer: false))
        }
        decoder.decode(try await server.nextWritten(1), into: &events)
      }
    }

    func say(_ messages: COMPortMessage...) {
      server.receive(messages.flatMap { $0.bytes(fromServer: true) })
    }
  }

  /// pyserial's server doesn't say how DTR and RTS are, and esptool's doesn't answer some changes of them.
  @Test func aServerMayBeSilentAboutDTRAndRTS() async throws {
    let setup = try await Setup()
    async let status = setup.line.status()
    for answer: COMPortMessage in [.baudRate(9_600), .dataSize(8), .parity(1), .stopSize(1), .control(1)] {
      _ = try await setup.question()
      setup.say(answer)
    }
    #expect(try await setup.question() == .control(7))
    #expect(try await setup.question() == .control(10))
    try await setup.clock.waitForPending()
    setup.clock.advance(by: .seconds(1))
    #expect(try await status.modemLines == [.dtr, .rts])
    // A change is asked for, and not waited for.
    try await setup.line.set(raising: [], lowering: .dtr)
    #expect(try await setup.question() == .control(9))
    #expect(try await setup.line.modemLines() == .rts)
    #expect(setup.server.written.isEmpty)
    await setup.client.close()
  }

  @Test func theServersNoticesAreCounted() async throws {
    let setup = try await Setup()
    async let first = setup.line.activity()
    #expect(try await setup.question() == .lineStateMask(0x1E))
    setup.say(.lineStateMask(0x1E))
    #expect(try await first == LineActivity())
    setup.say(.lineState(0x18), .lineState(0x0A), .modemState(0x30))
    var activity = LineActivity()
    while activity.overruns == 0 { activity = try await setup.line.activity() }
    #expect(activity == LineActivity(overruns: 1, framingErrors: 2, breaks: 1))
    await setup.client.close()
  }
}
