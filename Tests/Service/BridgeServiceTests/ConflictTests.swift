// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDiscovery
import AccessoryDrivers
import TestSupport
import Testing

@testable import BridgeService

/// A device that two profiles fit equally well, which name different protocols.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct ConflictTests {
  private func profile(_ name: String, _ driver: String) -> Profile {
    Profile(name: name, rules: [DeviceRule(serialNumber: "A1")], driver: driver)
  }

  @Test func nothingIsSentToIt() async throws {
    let profiles = [profile("cellar", "framed"), profile("roof", "jbd")]
    try await ServiceHarness.with(profiles: profiles) { harness in
      let terminal = try openPseudoTerminal(raw: true)
      let file = try harness.announce(terminal.path, serial: "A1", driver: "framed")
      try await harness.said("given up")
      let held = try #require(try await harness.client().call(Bridge.List()).accessories.first)
      #expect(held.state == .failed && held.profile == nil)
      #expect(held.problem?.message.contains("cellar (framed) and roof (jbd)") == true)
      #expect(terminal.received().isEmpty)
      // When one of them is gone, the other is right.
      await harness.service.use(ProfileStore([profile("cellar", "framed")]))
      try await harness.said(", profile cellar")
      withExtendedLifetime(file) {}
    }
  }
}
