// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryTesting
import Glibc
import TestSupport
import Testing

@testable import BridgeService

/// What the service tells of itself, and of where it stands with its accessories.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct ServiceFactsTests {
  @Test func theServiceTellsItsFactsAndLimits() async throws {
    var limits = ControlServer.Limits()
    (limits.clients, limits.clientsOfOneUser) = (9, 5)
    try await ServiceHarness.with(limits: limits) { harness in
      try await harness.simulate("A1")
      try await harness.said("A1 is attached at")
      let (client, _) = (try await harness.client(), try await harness.client())
      let facts = try await client.call(Bridge.GetService())
      #expect(facts.product == "Service" && facts.version == "1" && facts.process == Int(getpid()))
      #expect(facts.socket == harness.path && facts.clients >= 1)
      #expect(facts.accessories == 1 && facts.attached == 1)
      #expect(facts.limits == .init(accessories: 4_096, attached: 256, clients: 9, clients_of_one_user: 5))
      #expect(facts.started > 1_700_000_000 && facts.uptime_ms >= 0)
      let later = try await client.call(Bridge.GetService())
      #expect(later.started == facts.started && later.uptime_ms >= facts.uptime_ms)
    }
  }

  /// Which try comes next, of how many, and when.
  @Test func theListTellsTheNextTry() async throws {
    let clock = ManualClock()
    try await ServiceHarness.with(clock: clock) {
      $0.retry = .init(tries: .count(7), interval: .seconds(60))
    } _: { harness in
      // Nobody is at the other end.
      let terminal = try openPseudoTerminal(raw: true)
      let file = try harness.announce(terminal.path, serial: "A1")
      let client = try await harness.client()
      var held: Bridge.Accessory?
      while held?.state != .waiting {
        clock.advance(by: .milliseconds(500))
        held = try await client.call(Bridge.List()).accessories.first
      }
      #expect(held?.tries == 1 && held?.tries_limit == 7 && held?.profile == "framed")
      let pause = try #require(held?.next_try_ms)
      #expect((1...60_000).contains(pause))
      clock.advance(by: .seconds(1))
      let next = try await client.call(Bridge.List()).accessories.first
      #expect(next?.next_try_ms == pause - 1_000)
      withExtendedLifetime((terminal, file)) {}
    }
  }
}
