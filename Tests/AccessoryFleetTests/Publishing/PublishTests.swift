// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

/// `bridge-fleet publish` with Debian's mosquitto.
@Suite(.serialized, .timeLimit(.minutes(4))) struct PublishTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Runs a test with a broker, somebody who looks on, and machines of these names.
  private func with(
    _ access: TestBroker.Access = .open, isPersistent: Bool = false, names: [String] = ["attic"],
    _ body: (TestBroker, Onlooker, [TestGateway]) async throws -> Void
  ) async throws {
    let broker = try await TestBroker(directory, access, isPersistent: isPersistent)
    let onlooker = try Onlooker(broker)
    let gateways = try names.map { try TestGateway($0, directory: directory) }
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(broker, onlooker, gateways))
    } catch {
      result = .failure(error)
    }
    for gateway in gateways { await gateway.end() }
    await onlooker.end()
    try? await broker.stop()
    try result.get()
  }

  private func isUp(_ onlooker: Onlooker, _ gateway: TestGateway, percent: Int = 57) async throws {
    try await onlooker.wait(gateway.topic("availability"), "online")
    try await onlooker.wait(gateway.topic("SIM0001/availability"), "online")
    try await onlooker.wait(gateway.topic("SIM0001/state"), "\"percent\":\(percent)")
    try await onlooker.wait("homeassistant/device/\(gateway.name)/SIM0001/config", "\"battery\"")
  }

  /// An accessory is published, by both versions, with TLS and a password; offline is the last word.
  @Test(arguments: TestBroker.Access.allCases, MQTTVersion.allCases)
  func published(access: TestBroker.Access, version: MQTTVersion) async throws {
    try await with(access) { broker, onlooker, gateways in
      let gateway = gateways[0]
      _ = try await gateway.plug("--percent", "57")
      try gateway.serve()
      let publisher = try gateway.publish(broker, "--mqtt-version", version.rawValue)
      try await isUp(onlooker, gateway)
      publisher.signal(SIGTERM)
      let end = try await publisher.end()
      #expect(end.status == 128 + SIGTERM || end.status == 0)
      #expect(end.errorText.contains("by MQTT \(version.rawValue)"))
      try await onlooker.wait(gateway.topic("availability"), "offline")
    }
  }

  /// A broker that was restarted gets everything again; what changed meanwhile is right.
  @Test(arguments: [true, false])
  func brokerRestarted(isPersistent: Bool) async throws {
    try await with(isPersistent: isPersistent) { broker, onlooker, gateways in
      let gateway = gateways[0]
      let accessory = try await gateway.plug("--percent", "57")
      try gateway.serve()
      let publisher = try gateway.publish(broker)
      try await isUp(onlooker, gateway)
      try await broker.stop()
      accessory.signal(SIGTERM)
      try await accessory.end()
      _ = try await publisher.transcript.wait { $0.status != nil || $0.errorText.contains("the next try is in") }
      try broker.start()
      try await onlooker.wait(gateway.topic("SIM0001/availability"), "offline")
      try await onlooker.wait(gateway.topic("availability"), "online")
      try await onlooker.wait("homeassistant/device/attic/SIM0001/config", "\"battery\"")
      _ = try await gateway.plug("--percent", "58")
      try await isUp(onlooker, gateway, percent: 58)
    }
  }

  /// A broker that was silent for longer than the keepalive has everything right soon after.
  @Test
  func networkCut() async throws {
    try await with { broker, onlooker, gateways in
      let gateway = gateways[0]
      let accessory = try await gateway.plug("--percent", "57")
      try gateway.serve()
      let publisher = try gateway.publish(broker)
      try await isUp(onlooker, gateway)
      broker.freeze(true)
      _ = try await publisher.transcript.wait { $0.status != nil || $0.errorText.contains("no longer answers") }
      accessory.signal(SIGTERM)
      try await accessory.end()
      broker.freeze(false)
      try await onlooker.wait(gateway.topic("SIM0001/availability"), "offline")
      try await onlooker.wait(gateway.topic("availability"), "online")
    }
  }

  /// A publisher that was killed is offline, and online when it runs again; then nothing is published in a loop.
  @Test
  func killed() async throws {
    try await with { broker, onlooker, gateways in
      let gateway = gateways[0]
      _ = try await gateway.plug("--percent", "57")
      try gateway.serve()
      let publisher = try gateway.publish(broker)
      try await isUp(onlooker, gateway)
      publisher.signal(SIGKILL)
      try await onlooker.wait(gateway.topic("availability"), "offline")
      onlooker.seen.update { $0 = Onlooker.Seen() }
      _ = try gateway.publish(broker)
      try await isUp(onlooker, gateway)
      // Somebody publishes what only we should; by both it ends with our own word.
      await onlooker.client.publish(MQTTMessage(gateway.topic("availability"), Array("offline".utf8), isRetained: true))
      let changed = try await onlooker.seen.wait { ($0.counts[gateway.topic("availability")] ?? 0) >= 2 }
      try await onlooker.wait(gateway.topic("availability"), "online")
      // A few messages for each topic are enough for all of this.
      #expect(changed.counts.values.allSatisfy { $0 <= 6 }, "\(changed.counts)")
    }
  }

  /// Equal serial numbers on two gateways are two accessories with identifiers of their own.
  @Test
  func twoGateways() async throws {
    try await with(names: ["attic", "cellar"]) { broker, onlooker, gateways in
      for (gateway, percent) in zip(gateways, ["57", "31"]) {
        _ = try await gateway.plug("--percent", percent)
        try gateway.serve()
        _ = try gateway.publish(broker)
      }
      try await isUp(onlooker, gateways[0], percent: 57)
      try await isUp(onlooker, gateways[1], percent: 31)
      let messages = onlooker.seen.value.latest
      for (name, other) in [("attic", "cellar"), ("cellar", "attic")] {
        let config = try #require(messages["homeassistant/device/\(name)/SIM0001/config"])
        #expect(config.contains("accessory-bridge_\(name)_SIM0001") && !config.contains(other))
      }
    }
  }

  /// An accessory that is gone for good is removed, also one of an earlier life.
  @Test
  func forgotten() async throws {
    try await with { broker, onlooker, gateways in
      let gateway = gateways[0]
      // Of another version, which nobody can read; and one that was there long ago.
      let old = MQTTMessage(gateway.topic("OLD0001/availability"), Array("online".utf8), isRetained: true)
      var state = FleetState(
        Bridge.Device(id: "OLD0002", path: "/dev/ttyUSB9", source: "udev"), connected: true, at: 1_000_000)
      state.stale = true
      _ = try await onlooker.seen.wait { _ in true }
      await onlooker.client.publish(old)
      await onlooker.client.publish(MQTTMessage(gateway.topic("OLD0002/state"), state.bytes, isRetained: true))
      try await onlooker.wait(old.topic, "online")
      try await onlooker.wait(gateway.topic("OLD0002/state"), "OLD0002")
      let accessory = try await gateway.plug("--percent", "57")
      try gateway.serve()
      _ = try gateway.publish(broker, "--forget-after", "1s")
      try await isUp(onlooker, gateway)
      try await onlooker.waitForNone(old.topic)
      try await onlooker.waitForNone(gateway.topic("OLD0002/state"))
      accessory.signal(SIGTERM)
      try await onlooker.waitForNone("homeassistant/device/attic/SIM0001/config")
      for part in ["availability", "state", "values"] {
        try await onlooker.waitForNone(gateway.topic("SIM0001/" + part))
      }
      #expect(onlooker.seen.value.latest[gateway.topic("availability")] == "online")
    }
  }

  /// After Home Assistant has started, everything is published again.
  @Test
  func homeAssistantStarts() async throws {
    try await with { broker, onlooker, gateways in
      let gateway = gateways[0]
      _ = try await gateway.plug("--percent", "57")
      try gateway.serve()
      _ = try gateway.publish(broker)
      try await isUp(onlooker, gateway)
      onlooker.seen.update { $0 = Onlooker.Seen() }
      await onlooker.client.publish(MQTTMessage("homeassistant/status", Array("online".utf8)))
      try await isUp(onlooker, gateway)
    }
  }

  /// What is wrong with a configuration is said with its line, and with the status 78.
  @Test
  func configurations() async throws {
    let gateway = try TestGateway("attic", directory: directory)
    try directory.write(Array("broker: mqtt://localhost\nkeepalive: 2\ngatway: attic\n".utf8), to: "fleet.yaml")
    let wrong = try await gateway.start("bridge-fleet", ["publish", "--config", "fleet.yaml"]).end()
    #expect(wrong.status == EX_CONFIG)
    #expect(
      wrong.errorText.contains("fleet.yaml:2:12") && wrong.errorText.contains("fleet.yaml:3:1"), "\(wrong.errorText)")
    try directory.write(Array("secret\n".utf8), to: "password", mode: 0o644)
    let readable = try await gateway.start(
      "bridge-fleet",
      [
        "publish", "--broker", "mqtt://attic@localhost:1", "--password-file", "password", "--gateway", "attic",
        "--json",
      ]
    ).end()
    #expect(readable.status == EX_CONFIG && readable.outputText.contains("chmod o= password"), "\(readable.outputText)")
    let insecure = try await gateway.start(
      "bridge-fleet", ["publish", "--broker", "mqtt://localhost", "--ca", "ca.pem", "--gateway", "attic"]
    ).end()
    #expect(insecure.status == EX_CONFIG && insecure.errorText.contains("mqtts://"), "\(insecure.errorText)")
  }
}
