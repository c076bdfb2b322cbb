// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

extension WithBroker {
  /// Commands over MQTT: from who asks, by the broker, the publisher and the service, to the accessory, and back.
  @Suite struct CommandTests {
    private static let configuration = """
      commands:
      - accessory: SIM0001
        command: echo
        arguments: {payload: {allowed: ["0102", aabb]}}
        at_most: 100 every 1s
      - {driver: framed, command: command, arguments: {number: {min: 66, max: 70}}}

      """

    /// A machine whose service permits what the configuration names, and which is published.
    @discardableResult
    private func start(_ scene: Scene) async throws -> (service: Program, publisher: Program) {
      try scene.directory.write(Array(Self.configuration.utf8), to: "service.yaml")
      _ = try await scene.gateway.plug("--percent", "57")
      let service = try scene.gateway.serve("--config", "service.yaml")
      let publisher = try scene.gateway.publish(scene.broker)
      try await scene.isUp(scene.gateway)
      return (service, publisher)
    }

    private func request(_ scene: Scene, _ words: String...) async throws -> Program.Transcript {
      try await scene.gateway.start(
        "bridge-fleet", ["request", "attic:SIM0001"] + words + ["--json"] + scene.broker.options()
      ).end()
    }

    private func kind(_ end: Program.Transcript) -> String? {
      (try? JSON(end.output))?.fields?["error"]?.fields?["kind"]?.text
    }

    /// A command that the configuration names is answered; one beyond its limits, and one that isn't named, is refused.
    @Test func onlyConfiguredCommandsArePerformed() async throws {
      try await with { scene in
        try await start(scene)
        let answered = try await request(scene, "echo", "payload=0102")
        #expect(answered.status == 0, "\(answered.errorText)")
        let document = try #require(try JSON(answered.output).fields)
        #expect(document["gateway"] == .string("attic") && document["connected"] == .bool(true))
        #expect(answered.outputText.contains("0102"), "\(answered.outputText)")
        let plain = try await scene.gateway.look(
          scene.broker, "request", "attic:SIM0001", "echo", "payload=aabb")
        #expect(plain.status == 0 && plain.outputText.contains("aabb"), "\(plain.outputText) \(plain.errorText)")

        let beyond = try await request(scene, "echo", "payload=0103")
        #expect(beyond.status == EX_CONFIG && kind(beyond) == "misconfigured", "\(beyond.outputText)")
        let tooHigh = try await request(scene, "command", "number=71")
        #expect(tooHigh.status == EX_CONFIG && tooHigh.outputText.contains("from 66 to 70"), "\(tooHigh.outputText)")
        let notNamed = try await request(scene, "battery")
        #expect(notNamed.status == EX_NOPERM && kind(notNamed) == "permission_denied", "\(notNamed.outputText)")
        #expect(notNamed.outputText.contains("service.yaml"))
        let unknown = try await request(scene, "no-such-command")
        #expect(unknown.status == EX_NOPERM && kind(unknown) == "permission_denied", "\(unknown.outputText)")
      }
    }

    /// Without a configuration no command is permitted.
    @Test func noCommandIsPermittedWithoutAConfiguration() async throws {
      try await with { scene in
        try await scene.start(scene.gateway)
        let end = try await request(scene, "echo", "payload=0102")
        #expect(end.status == EX_NOPERM && kind(end) == "permission_denied", "\(end.outputText)")
      }
    }

    /// Any program can send commands: the three forms of a message, and their answers. A command that the broker has kept is not
    /// performed.
    @Test func plainMessagesArePerformedUnlessTheyWereKept() async throws {
      try await with { scene in
        let (gateway, onlooker) = (scene.gateway, scene.onlooker)
        let (set, result) = (gateway.topic("SIM0001/echo/set"), gateway.topic("SIM0001/echo/result"))
        // Kept from before the publisher runs.
        await onlooker.publish(set, "0102", isRetained: true)
        let publisher = try await start(scene).publisher
        func send(_ message: [String]) async throws -> Program.Transcript {
          try await Program(
            ["mosquitto_pub", "-h", "localhost", "-p", "\(scene.broker.port)", "-q", "1", "-t", set] + message,
            environment: ["PATH": "/usr/bin:/bin"], directory: scene.directory.path
          ).end()
        }
        #expect(try await send(["-m", "aabb"]).status == 0)
        try await onlooker.wait(result, "aabb")
        #expect(try await send(["-m", #"{"arguments": {"payload": "0102"}, "id": "7f3a"}"#]).status == 0)
        try await onlooker.wait(result, #""id":"7f3a""#)
        #expect(onlooker.seen.value.latest[result]?.contains("0102") == true)
        #expect(try await send(["-m", #"{"payload": "0102"}"#]).status == 0)
        try await onlooker.wait(result, #""kind":"misconfigured""#)
        // One that is to be kept is performed when it arrives, as any other.
        #expect(try await send(["-r", "-m", "0102"]).status == 0)
        try await onlooker.seen.wait { $0.counts[result] == 4 }
        // The one that was kept before was never performed, and this one isn't performed again.
        publisher.signal(SIGKILL)
        try await onlooker.wait(gateway.topic("availability"), "offline")
        try gateway.publish(scene.broker)
        try await scene.isUp(gateway)
        try await scene.isQuiet()
        #expect(onlooker.seen.value.counts[result] == 4)
      }
    }

    /// Of a flood of commands each is answered, some with the error that there are too many.
    @Test func eachCommandOfAFloodIsAnswered() async throws {
      try await with { scene in
        let (gateway, onlooker) = (scene.gateway, scene.onlooker)
        try await start(scene)
        let result = gateway.topic("SIM0001/echo/result")
        for index in 0..<60 {
          await onlooker.publish(
            gateway.topic("SIM0001/echo/set"), #"{"arguments": {"payload": "0102"}, "id": "\#(index)"}"#)
        }
        try await onlooker.seen.wait { $0.counts[result] == 60 }
        let results = onlooker.seen.value.results
        #expect(results.contains { $0.contains("too many commands") } && results.contains { $0.contains("replies") })
        // It was a moment only.
        try await eventually("a command to be admitted again") {
          try await request(scene, "echo", "payload=0102").status == 0
        }
      }
    }

    /// A configuration that is read again permits something else at once.
    @Test func aReloadedConfigurationPermitsOtherCommands() async throws {
      try await with { scene in
        let service = try await start(scene).service
        #expect(try await request(scene, "battery").status == EX_NOPERM)
        try scene.directory.write(
          Array("commands: [{driver: framed, command: battery}]\n".utf8), to: "service.yaml")
        service.signal(SIGHUP)
        _ = try await service.transcript.wait { $0.status != nil || $0.errorText.contains("permits 1 command to") }
        let permitted = try await request(scene, "battery")
        #expect(permitted.status == 0, "\(permitted.outputText)")
        let forbidden = try await request(scene, "echo", "payload=0102")
        #expect(forbidden.status == EX_NOPERM, "\(forbidden.outputText)")
      }
    }

    /// A service that was started again without the socket for readings answers at the other one, where everything is permitted.
    /// No command goes there.
    @Test func noCommandGoesToTheUnrestrictedSocket() async throws {
      try await with { scene in
        let (service, publisher) = try await start(scene)
        #expect(try await request(scene, "echo", "payload=0102").status == 0)
        service.signal(SIGTERM)
        try await service.end()
        try scene.gateway.serve("--config", "service.yaml", "--readings-socket", "none")
        let following = "following the service at \(scene.gateway.socket)"
        _ = try await publisher.transcript.wait { $0.status != nil || $0.errorText.contains(following) }
        // Its accessories arrive one after another.
        var end = try await request(scene, "echo", "payload=0102")
        try await eventually("an answer about the accessory") {
          if end.status == EX_UNAVAILABLE { end = try await request(scene, "echo", "payload=0102") }
          return end.status != EX_UNAVAILABLE
        }
        #expect(end.status == EX_NOPERM && end.outputText.contains("permits no commands"), "\(end.outputText)")
      }
    }

    /// The commands that were read at one socket aren't sent to another one, also before its own are known.
    @Test func commandsOfOneSocketAreNotSentToAnother() async throws {
      try await with { scene in
        let (gateway, onlooker) = (scene.gateway, scene.onlooker)
        _ = try await gateway.plug("--percent", "57")
        try gateway.serve("--readings-socket", "none")
        let settings = PublisherSettings(
          gateway: TopicLevel(level: "attic")!, host: "box", version: "1", sockets: [gateway.socket])
        let publisher = FleetPublisher(
          settings, mqtt: MQTTClient(try scene.broker.settings("publisher")), log: .silent)
        let running = Task { await publisher.run() }
        try await scene.isUp(gateway)
        // As it was at the socket for readings of an earlier service.
        await publisher.know(CommandDescription("battery", ""), of: TopicLevel(level: "SIM0001")!)
        await onlooker.publish(gateway.topic("SIM0001/battery/set"), "")
        try await onlooker.wait(gateway.topic("SIM0001/battery/result"), "permission_denied")
        running.cancel()
        await running.value
      }
    }
  }
}

extension FleetPublisher {
  /// Adds a command to those of an accessory.
  fileprivate func know(_ command: CommandDescription, of level: TopicLevel) {
    records.note([command], of: level)
  }
}
