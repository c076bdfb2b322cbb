// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

extension WithBroker {
  /// What `bridge-fleet publish` puts on a broker, and what stays there.
  @Suite struct PublishTests {
    /// An accessory is published, with TLS and passwords or certificates, also where MQTT 5 is asked for; offline is the last word.
    @Test(arguments: [TestBroker.Access.open, .encrypted, .certificates], [[], ["--mqtt-version", "5"]])
    func aPublishedAccessoryIsOfflineInTheEnd(access: TestBroker.Access, options: [String]) async throws {
      try await with(access) { scene in
        _ = try await scene.gateway.plug("--percent", "57")
        try scene.gateway.serve()
        let publisher = try scene.gateway.publish(scene.broker, options)
        try await scene.isUp(scene.gateway)
        // Nothing happens, so nothing is published.
        try await scene.isQuiet()
        publisher.signal(SIGTERM)
        let end = try await publisher.end()
        #expect(end.status == 0)
        #expect(end.errorText.contains("MQTT 3.1.1 is used") != options.isEmpty)
        try await scene.onlooker.wait(scene.gateway.topic("availability"), "offline")
      }
    }

    /// A gateway without accessories is there as well, and tells how many it has.
    @Test func aGatewayTellsHowManyAccessoriesItHas() async throws {
      try await with { scene in
        try scene.gateway.serve()
        let publisher = try scene.gateway.publish(scene.broker)
        let (seen, info) = (scene.onlooker.seen, scene.gateway.topic("info"))
        try await seen.wait { $0.latest[info]?.contains(#""accessories":0,"attached":0"#) == true }
        let config = try #require(seen.value.latest["homeassistant/device/\(scene.gateway.name)/config"])
        #expect(config.contains("last_contact"))
        let simulator = try await scene.gateway.plug()
        try await seen.wait { $0.latest[info]?.contains(#""accessories":1,"attached":1"#) == true }
        simulator.signal(SIGTERM)
        try await seen.wait { $0.latest[info]?.contains(#""accessories":1,"attached":0"#) == true }
        publisher.signal(SIGTERM)
        _ = try await publisher.end()
      }
    }

    /// The variable names the broker, also for a file without one; an option goes before it.
    @Test func theEnvironmentNamesTheBroker() async throws {
      try await with { scene in
        let broker = ["ACCESSORY_BRIDGE_BROKER": "mqtt://localhost:\(scene.broker.port)"]
        func publish(_ gateway: String, _ words: [String]) throws -> Program {
          try scene.gateway.start("bridge-fleet", ["publish"] + words, with: broker)
        }
        let plain = try publish("first", ["--gateway", "first"])
        try scene.directory.write(Array("gateway: second\n".utf8), to: "fleet.yaml")
        let file = try publish("second", ["--config", "fleet.yaml"])
        for name in ["first", "second"] {
          try await scene.onlooker.wait("accessory-bridge/\(name)/availability", "online")
        }
        let other = try publish("third", ["--gateway", "third", "--broker", "mqtt://localhost:1"])
        _ = try await other.transcript.wait { $0.status != nil || $0.errorText.contains("the next try is in") }
        for program in [plain, file, other] {
          program.signal(SIGTERM)
          #expect(try await program.end().status == 0)
        }
      }
    }

    /// Equal serial numbers on two gateways are two accessories with identifiers of their own.
    @Test func equalSerialNumbersAreTwoAccessories() async throws {
      try await with(names: ["attic", "cellar"]) { scene in
        try await scene.start(scene.gateways[0], percent: 57)
        try await scene.start(scene.gateways[1], percent: 31)
        let messages = scene.onlooker.seen.value.latest
        for (name, other) in [("attic", "cellar"), ("cellar", "attic")] {
          let config = try #require(messages["homeassistant/device/\(name)/SIM0001/config"])
          #expect(config.contains("accessory-bridge_\(name)_SIM0001") && !config.contains(other))
        }
        try await scene.isQuiet()
      }
    }

    /// Two accessories of one serial number on one gateway have their topics by their ports, whichever came first, whoever left, and
    /// after restarts. The topic from before is offline.
    @Test(arguments: [["a", "b"], ["b", "a"]]) func twinsHaveTheirTopicsByTheirPorts(order: [String]) async throws {
      try await with { scene in
        let (gateway, folder) = (scene.gateway, scene.directory.path)
        let percents = ["a": "40", "b": "80"]
        let state = ["XDG_STATE_HOME": folder + "/state"]
        func topic(_ link: String, _ rest: String) -> String {
          gateway.topic("\(TopicLevel(naming: "0001@\(folder)/\(link)"))/\(rest)")
        }
        func plug(_ link: String) async throws -> Program {
          try await gateway.plug(
            "--serial", "0001", "--link", "\(folder)/\(link)", "--percent", percents[link] ?? "")
        }
        func serve() throws -> Program {
          try gateway.start("bridge-cli", ["serve", "--reconnect-tries", "forever"], with: state)
        }
        func wait(_ link: String) async throws {
          try await scene.onlooker.wait(topic(link, "state"), "\"percent\":\(percents[link] ?? "")")
          try await scene.onlooker.wait(topic(link, "availability"), "online")
        }
        var service = try serve()
        var publisher = try gateway.publish(scene.broker)
        var simulators: [String: Program] = [:]
        simulators[order[0]] = try await plug(order[0])
        // One that is alone has the topic that it always had.
        try await scene.isUp(gateway, id: "0001", percent: Int(percents[order[0]] ?? ""))
        simulators[order[1]] = try await plug(order[1])
        for link in order { try await wait(link) }
        try await scene.onlooker.wait(gateway.topic("0001/availability"), "offline")
        // The first one leaves.
        simulators[order[0]]?.signal(SIGINT)
        _ = try await simulators[order[0]]?.end()
        try await scene.onlooker.wait(topic(order[0], "availability"), "offline")
        try await wait(order[1])
        // Service and publisher start again, while the other one is alone.
        for program in [publisher, service] {
          program.signal(SIGTERM)
          _ = try await program.end()
        }
        service = try serve()
        publisher = try gateway.publish(scene.broker)
        try await wait(order[1])
        simulators[order[0]] = try await plug(order[0])
        for link in order { try await wait(link) }
        #expect(scene.onlooker.seen.value.latest[gateway.topic("0001/availability")] == "offline")
        // No topic has ever told of the other one.
        for (link, other) in [("a", "80"), ("b", "40")] {
          #expect(scene.onlooker.seen.value.latest[topic(link, "state")]?.contains("\"percent\":\(other)") == false)
        }
      }
    }

    /// Two machines with one host name have names and client identifiers of their own, by their machine ids.
    @Test func equalHostNamesHaveDifferentGateways() async throws {
      try await with(names: ["first", "second"]) { scene in
        var publishing: [Task<Void, Never>] = []
        var names: [TopicLevel] = []
        for (index, machine) in scene.gateways.enumerated() {
          _ = try await machine.plug("--percent", "\(57 + index)")
          try machine.serve()
          let path = scene.directory.path + "/machine-id-\(index)"
          try scene.directory.write(
            Array((String(repeating: "\(index + 1)", count: 32) + "\n").utf8), to: "machine-id-\(index)")
          let name = try GatewayName.ofThisMachine(hostName: "box", identityPath: path)
          names.append(name)
          let settings = PublisherSettings(
            gateway: name, host: "box", version: "1", sockets: [machine.readingsSocket, machine.socket])
          var broker = try scene.broker.settings(ClientIdentifier.ofPublisher(name, identityPath: path))
          broker.will = settings.will
          let publisher = FleetPublisher(settings, mqtt: MQTTClient(broker), log: .silent)
          publishing.append(Task { await publisher.run() })
        }
        #expect(Set(names).count == 2 && names.allSatisfy { $0.text.hasPrefix("box-") })
        for (index, name) in names.enumerated() {
          try await scene.onlooker.wait("accessory-bridge/\(name)/SIM0001/state", "\"percent\":\(57 + index)")
          try await scene.onlooker.wait("accessory-bridge/\(name)/SIM0001/availability", "online")
        }
        // Neither ends the other's connection, which would make both say offline and online again and again.
        try await scene.isQuiet()
        for name in names {
          #expect(scene.onlooker.seen.value.latest["accessory-bridge/\(name)/availability"] == "online")
        }
        for task in publishing { task.cancel() }
        for task in publishing { await task.value }
      }
    }

    /// An accessory that is gone for good is removed, also one of an earlier life.
    @Test func anAccessoryThatIsGoneForGoodIsRemoved() async throws {
      try await with { scene in
        let (gateway, onlooker) = (scene.gateway, scene.onlooker)
        // Of another version, which nobody can read; and one that was there long ago.
        let old = gateway.topic("OLD0001/availability")
        var state = FleetState(
          Device(id: "OLD0002", path: "/dev/ttyUSB9", source: .udev), connected: true, at: 1_000_000)
        state.isStale = true
        await onlooker.publish(old, "online", isRetained: true)
        await onlooker.publish(MQTTMessage(gateway.topic("OLD0002/state"), state.bytes, isRetained: true))
        try await onlooker.wait(old, "online")
        try await onlooker.wait(gateway.topic("OLD0002/state"), "OLD0002")
        let accessory = try await gateway.plug("--percent", "57")
        try gateway.serve()
        try gateway.publish(scene.broker, ["--forget-after", "1s"])
        try await scene.isUp(gateway)
        try await onlooker.waitForNone(old)
        try await onlooker.waitForNone(gateway.topic("OLD0002/state"))
        accessory.signal(SIGTERM)
        try await onlooker.waitForNone("homeassistant/device/attic/SIM0001/config")
        for part in ["availability", "state", "values"] {
          try await onlooker.waitForNone(gateway.topic("SIM0001/" + part))
        }
        #expect(onlooker.seen.value.latest[gateway.topic("availability")] == "online")
      }
    }

    /// After Home Assistant has started, everything is published again, once.
    @Test func everythingIsPublishedWhenHomeAssistantStarts() async throws {
      try await with { scene in
        try await scene.start(scene.gateway)
        try await scene.isQuiet()
        scene.onlooker.seen.update { $0.latest = [:] }
        scene.onlooker.forgetCounts()
        await scene.onlooker.publish("homeassistant/status", "online")
        try await scene.isUp(scene.gateway)
        try await scene.isQuiet()
        #expect(scene.onlooker.seen.value.counts.values.allSatisfy { $0 <= 2 }, "\(scene.onlooker.seen.value.counts)")
      }
    }

    /// What is wrong with a configuration is said with its line, and with the status 78.
    @Test func mistakesInAPublishersConfigurationHaveTheirLine() async throws {
      let directory = try TemporaryDirectory()
      let gateway = try TestGateway("attic", directory: directory)
      func publish(_ words: String...) async throws -> Program.Transcript {
        try await gateway.start("bridge-fleet", ["publish"] + words).end()
      }
      try directory.write(Array("broker: mqtt://localhost\nkeepalive: 2\ngatway: attic\n".utf8), to: "fleet.yaml")
      let wrong = try await publish("--config", "fleet.yaml")
      #expect(wrong.status == EX_CONFIG)
      #expect(
        wrong.errorText.contains("fleet.yaml:2:12") && wrong.errorText.contains("fleet.yaml:3:1"), "\(wrong.errorText)")
      try directory.write(Array("secret\n".utf8), to: "password", mode: 0o644)
      let readable = try await publish(
        "--broker", "mqtt://attic@localhost:1", "--password-file", "password", "--gateway", "attic", "--json")
      #expect(
        readable.status == EX_CONFIG && readable.outputText.contains("chmod o= password"), "\(readable.outputText)")
      let insecure = try await publish("--broker", "mqtt://localhost", "--ca", "ca.pem", "--gateway", "attic")
      #expect(insecure.status == EX_CONFIG && insecure.errorText.contains("mqtts://"), "\(insecure.errorText)")
    }
  }
}
