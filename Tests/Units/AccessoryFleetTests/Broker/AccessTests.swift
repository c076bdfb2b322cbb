// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

extension WithBroker {
  /// Who may connect, and who may do what.
  @Suite struct AccessTests {
    /// A client without a certificate is refused, and so is one with another CA's.
    @Test func onlyCertificatesOfTheRightCAAreAccepted() async throws {
      try await with(.certificates) { scene in
        func list(_ words: String...) async throws -> Program.Transcript {
          try await scene.gateway.start(
            "bridge-fleet",
            ["list", "--broker", "mqtts://localhost:\(scene.broker.port)", "--ca", "ca.pem", "--timeout", "5"] + words
          ).end()
        }
        let with = try await list("--certificate", "attic.pem", "--key", "attic.key")
        #expect(with.status == 0, "\(with.errorText)")
        let without = try await list()
        #expect(without.status == EX_UNAVAILABLE || without.status == EX_CONFIG, "\(without.errorText)")
        let secrets = TestSecrets(scene.directory)
        try await secrets.makeAuthority()
        try await secrets.makeCertificate("stranger", commonName: "attic")
        let stranger = try await list("--certificate", "stranger.pem", "--key", "stranger.key")
        #expect(stranger.status != 0 && stranger.outputText.isEmpty, "\(stranger.errorText)")
      }
    }

    /// A wrong password is said as such, and isn't tried in a quick loop.
    @Test func aWrongPasswordIsReportedAsSuch() async throws {
      try await with(.encrypted) { scene in
        try scene.directory.write(Array("wrong\n".utf8), to: "wrong")
        let end = try await scene.gateway.start(
          "bridge-fleet",
          [
            "list", "--broker", "mqtts://attic@localhost:\(scene.broker.port)", "--ca", "ca.pem", "--password-file",
            "wrong", "--json",
          ]
        ).end()
        #expect(end.status == EX_NOPERM && end.outputText.contains("--password-file"), "\(end.outputText)")
      }
    }

    /// The list of the page on fleets does what the page says.
    @Test func thePagesAccessListWorks() async throws {
      let lines = try Page("Documentation/fleet.md").lines.drop { $0 != "# /etc/mosquitto/acl" }
      let acl = lines.prefix { $0 != "```" }.joined(separator: "\n")
      #expect(acl.contains("pattern readwrite"))
      try await with(.listed(acl: acl), names: ["attic", "cellar"]) { scene in
        try scene.directory.write(
          Array("commands: [{driver: framed, command: battery}]\n".utf8), to: "service.yaml")
        let gateway = scene.gateway
        _ = try await gateway.plug("--percent", "57")
        try gateway.serve("--config", "service.yaml")
        try gateway.publish(scene.broker)
        try await scene.isUp(gateway)
        #expect(try await gateway.look(scene.broker, as: "viewer", "battery", "attic:SIM0001").status == 0)
        #expect(
          try await gateway.look(scene.broker, as: "homeassistant", "request", "attic:SIM0001", "battery").status == 0)
        let refused = try await gateway.look(
          scene.broker, as: "viewer", "request", "attic:SIM0001", "battery", "--timeout", "5")
        #expect(refused.status == EX_NOPERM || refused.status == 75, "\(refused.status ?? 0) \(refused.errorText)")
        #expect(scene.onlooker.seen.value.results.count == 1)
        // Another gateway's user can't speak for this one.
        let stranger = MQTTClient(try scene.broker.settings("stranger", of: "cellar"))
        await stranger.start()
        while let event = await stranger.next() { if case .connected = event { break } }
        await stranger.publish(
          MQTTMessage(gateway.topic("SIM0001/availability"), Array("offline".utf8), isRetained: true))
        await stranger.publish(
          MQTTMessage("accessory-bridge/cellar/availability", Array("online".utf8), isRetained: true))
        try await scene.onlooker.wait("accessory-bridge/cellar/availability", "online")
        #expect(scene.onlooker.seen.value.latest[gateway.topic("SIM0001/availability")] == "online")
        await stranger.stop()
        // Home Assistant's start is heard by every gateway.
        scene.onlooker.seen.update { $0.latest = [:] }
        let homeAssistant = MQTTClient(try scene.broker.settings("homeassistant", of: "homeassistant"))
        await homeAssistant.start()
        while let event = await homeAssistant.next() { if case .connected = event { break } }
        await homeAssistant.publish(MQTTMessage("homeassistant/status", Array("online".utf8)))
        try await scene.isUp(gateway)
        await homeAssistant.stop()
      }
    }
  }
}
