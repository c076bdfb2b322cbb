// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

extension WithBroker {
  /// `bridge-fleet list`, `battery`, `status`, `values` and `watch` with a broker: what they print, and their exit statuses.
  @Suite struct ViewTests {
    /// Runs a command with `--json`, and returns its end and its first document.
    private func look(_ scene: Scene, _ words: String...) async throws -> (end: Program.Transcript, document: JSON?) {
      let end = try await scene.gateway.start(
        "bridge-fleet", words + ["--json"] + scene.broker.options()
      ).end()
      return (end, try? end.lines.first.map { try JSON(Array($0.utf8)) })
    }

    /// Readings of accessories of two gateways, also after one of them is offline.
    @Test func readingsOfTwoGatewaysAreShown() async throws {
      try await with(names: ["attic", "cellar"]) { scene in
        try await scene.start(scene.gateways[0], percent: 57)
        let publisher = try await scene.start(scene.gateways[1], percent: 31)
        let list = try await look(scene, "list")
        #expect(list.end.status == 0 && list.document?["schema"] == .string("accessory-bridge/2"))
        #expect(list.document?["complete"] == .bool(true))
        let devices = list.document?["devices"]?.elements ?? []
        #expect(devices.map { $0["gateway"]?.text } == ["attic", "cellar"])
        #expect(devices.allSatisfy { $0["id"]?.text == "SIM0001" && $0["connected"] == .bool(true) })
        #expect(devices.allSatisfy { $0["online"] == .bool(true) && $0["service"]?["state"]?.text == "attached" })
        let one = try await look(scene, "list", "--gateway", "cel")
        #expect(one.document?["devices"]?.elements?.map { $0["gateway"]?.text } == ["cellar"])

        for (name, percent) in [("attic:SIM0001", "57"), ("cellar:SIM", "31")] {
          let battery = try await look(scene, "battery", name)
          #expect(battery.end.status == 0 && battery.document?["battery"]?["percent"] == .number(percent), "\(name)")
          #expect(battery.document?["stale"] == .bool(false) && battery.document?["device"]?["id"]?.text == "SIM0001")
        }
        // 2,400 mAh at 600 mA, of which the accessory says nothing.
        var state = FleetState(
          Device(id: "PACK1", path: "/dev/ttyUSB1", source: .udev), connected: true, at: 1_790_000_000)
        var reading = BatteryReading(percent: 50, milliamperes: -600, charge: .discharging)
        reading.remainingMilliampereHours = 2_400
        state.battery = reading
        state.batteryTime = MonotonicTime(since1970: 1_790_000_000)
        await scene.onlooker.publish("accessory-bridge/shed/availability", "online", isRetained: true)
        await scene.onlooker.publish(MQTTMessage("accessory-bridge/shed/PACK1/state", state.bytes, isRetained: true))
        try await scene.onlooker.wait("accessory-bridge/shed/PACK1/state", "PACK1")
        let pack = try await look(scene, "battery", "shed:PACK1")
        #expect(pack.document?["battery"]?["time_to_empty_s"] == .number("14400"), "\(pack.end.outputText)")
        #expect(pack.document?["battery"]?["derived"]?.elements?.contains(.string("time_to_empty_s")) == true)
        let status = try await look(scene, "status", "SIM0001", "--gateway", "attic")
        #expect(status.end.status == 0 && status.document?["status"]?["state"]?.text == "idle")
        #expect(status.document?["identity"]?["serial"]?.text == "SIM0001")
        let people = try await scene.gateway.look(scene.broker, "list")
        #expect(people.lines.first?.hasPrefix("GATEWAY") == true && people.outputText.contains("57 %"))

        let several = try await look(scene, "battery", "SIM0001")
        #expect(several.end.status == EX_USAGE && several.document?["error"]?["kind"]?.text == "usage")
        #expect(several.end.outputText.contains("attic:SIM0001, cellar:SIM0001"))
        let none = try await look(scene, "battery", "nobody")
        #expect(none.end.status == EX_NOINPUT && none.document?["error"]?["kind"]?.text == "not_found")
        let values = try await look(scene, "values", "attic:SIM0001")
        #expect(values.document?["values"]?.elements?.contains { $0["name"]?.text == "boot_id" } == true)

        publisher.signal(SIGKILL)
        try await scene.onlooker.wait(scene.gateways[1].topic("availability"), "offline")
        let old = try await look(scene, "battery", "cellar:SIM0001")
        #expect(old.end.status == 0 && old.document?["battery"]?["percent"] == .number("31"))
        #expect(old.document?["stale"] == .bool(true) && old.document?["online"] == .bool(false))
        #expect(old.document?["connected"] == .bool(false))
        let request = try await look(scene, "request", "cellar:SIM0001", "battery")
        #expect(request.end.status == EX_UNAVAILABLE && request.end.outputText.contains("is offline"))
        let shown = try await scene.gateway.look(scene.broker, "list")
        #expect(shown.outputText.contains("offline") && shown.outputText.contains("attached"))
      }
    }

    /// Values, with their units and ages.
    @Test func valuesOfAPublishedBrickAreShown() async throws {
      try await with { scene in
        _ = try await scene.gateway.plug(kind: "ev3")
        try scene.gateway.serve()
        try scene.gateway.publish(scene.broker)
        try await scene.onlooker.seen.wait { $0.latest.keys.contains { $0.hasSuffix("/values") } }
        let all = try await look(scene, "values")
        #expect(all.end.status == 0, "\(all.end.outputText)")
        let values = all.document?["values"]?.elements ?? []
        #expect(values.contains { $0["name"]?.text == "port_4" } && all.document?["gateway"]?.text == "attic")
        #expect(values.allSatisfy { $0["stale"] == .bool(false) || $0["stale"] == nil })
        let id = try #require(all.document?["device"]?["id"]?.text)
        let unknown = try await look(scene, "values", id, "no_such_value")
        #expect(unknown.end.status == EX_USAGE && unknown.end.outputText.contains("port_4"))
      }
    }

    /// `watch` and `battery --watch` show what changes, until they are interrupted.
    @Test func watchShowsWhatChangesUntilItIsInterrupted() async throws {
      try await with { scene in
        let accessory = try await scene.gateway.plug("--percent", "57")
        try scene.gateway.serve()
        let publisher = try scene.gateway.publish(scene.broker)
        try await scene.isUp(scene.gateway)
        let watch = try scene.gateway.start("bridge-fleet", ["watch", "--json"] + scene.broker.options())
        func event(_ number: Int) async throws -> JSON {
          try JSON(Array(try await watch.lines(number)[number - 1].utf8))
        }
        let first = try await event(1)
        #expect(first["event"]?.text == "connected" && first["gateway"]?.text == "attic")
        #expect(first["device"]?["id"]?.text == "SIM0001" && first["connected"] == .bool(true))
        accessory.signal(SIGTERM)
        let second = try await event(2)
        #expect(second["event"]?.text == "disconnected" && second["online"] == .bool(true))
        _ = try await scene.gateway.plug("--percent", "58")
        #expect(try await event(3)["event"]?.text == "connected")
        // The broker restarts: it says so once, and goes on.
        try await scene.broker.stop()
        try await scene.broker.start()
        _ = try await watch.transcript.wait { $0.status != nil || $0.errorText.contains("is back") }
        _ = try await publisher.transcript.wait { transcript in
          transcript.status != nil || transcript.errorText.ranges(of: "connected to the broker").count >= 2
        }
        try await scene.isUp(scene.gateway, percent: 58)
        publisher.signal(SIGKILL)
        let last = try await event(4)
        #expect(last["event"]?.text == "disconnected" && last["online"] == .bool(false))
        watch.signal(SIGINT)
        #expect(try await watch.end().status == 0)
      }
    }

    /// Alarms of the gateway's service are in the state, on the topic of events, and in what commands show.
    @Test func alarmsAreInStateEventsAndCommands() async throws {
      try await with { scene in
        let accessory = try await scene.gateway.plug("--percent", "12")
        try scene.gateway.serve("--alarm", "low: battery < 20 %")
        try scene.gateway.publish(scene.broker)
        try await scene.isUp(scene.gateway, percent: 12)
        let topic = scene.gateway.topic("SIM0001/state")
        try await scene.onlooker.seen.wait { $0.latest[topic]?.contains(#""name":"low""#) == true }
        try await scene.onlooker.seen.wait {
          $0.latest["homeassistant/device/attic/SIM0001/config"]?.contains("value_json.alarms") == true
        }
        let watch = try scene.gateway.start("bridge-fleet", ["watch", "--json"] + scene.broker.options())
        let shown = try await watch.lines(2)
        #expect(shown[1].contains(#""event":"alarm""#) && shown[1].contains(#""state":"raised""#), "\(shown)")
        let list = try await look(scene, "list")
        #expect(list.document?["devices"]?.elements?.first?["service"]?["alarms"]?.elements?.count == 1)
        #expect(try await scene.gateway.look(scene.broker, "list").outputText.contains("! low"))
        for command in ["battery", "status"] {
          let document = try await look(scene, command, "SIM0001").document
          #expect(document?["alarms"]?.elements?.first?["value"]?.text == "12 %", "\(command)")
          #expect(
            try await scene.gateway.look(scene.broker, command, "SIM0001").outputText.contains("! low: battery < 20 %"))
        }
        // Another accessory of this identity, which isn't low.
        accessory.signal(SIGTERM)
        _ = try await accessory.end()
        _ = try await scene.gateway.plug("--percent", "90")
        try await scene.onlooker.seen.wait { $0.latest[topic]?.contains(#""alarms":[]"#) == true }
        #expect(scene.onlooker.seen.value.counts[scene.gateway.topic("SIM0001/event"), default: 0] > 0)
        _ = try await watch.line(containing: #""state":"cleared""#)
      }
    }

    /// A gateway that a broker without persistence has forgotten is gone, after the time that the pages name.
    @Test func aForgottenGatewayIsGone() async throws {
      try await with { scene in
        _ = try await scene.gateway.plug("--percent", "57")
        try scene.gateway.serve()
        let publisher = try scene.gateway.publish(scene.broker)
        try await scene.isUp(scene.gateway)
        let watch = try scene.gateway.start("bridge-fleet", ["watch", "--json"] + scene.broker.options())
        _ = try await watch.lines(1)
        try await scene.broker.stop()
        publisher.signal(SIGKILL)
        _ = try await publisher.end()
        try await scene.broker.start()
        _ = try await watch.transcript.wait { $0.status != nil || $0.errorText.contains("is back") }
        let last = try JSON(Array(try await watch.lines(2)[1].utf8))
        #expect(last["event"]?.text == "disconnected" && last["gateway"]?.text == "attic")
        #expect(last["online"] == .bool(false))
      }
    }

    /// `watch` shows a fleet of hundreds of gateways at once, and one message of many megabytes costs nobody the others; it is
    /// followed by what changes. Also an accessory that is named by its beginning is found among them.
    @Test func watchShowsHundredsOfGateways() async throws {
      try await with { scene in
        let count = 300
        for number in 0..<count {
          let begin = "accessory-bridge/gateway-\(number)"
          let device = Device(id: "S\(number)", path: "/dev/ttyUSB0", source: .udev)
          let state = FleetState(device, connected: true, at: 1_790_000_000)
          await scene.onlooker.publish("\(begin)/availability", "online", isRetained: true)
          await scene.onlooker.publish("\(begin)/S\(number)/availability", "online", isRetained: true)
          await scene.onlooker.publish(MQTTMessage("\(begin)/S\(number)/state", state.bytes, isRetained: true))
        }
        try await scene.onlooker.wait("accessory-bridge/gateway-\(count - 1)/S\(count - 1)/state", "S\(count - 1)")
        await scene.onlooker.publish(
          MQTTMessage(
            "accessory-bridge/gateway-7/LONG/state", [UInt8](repeating: 0x20, count: 6 << 20), isRetained: true))
        await scene.onlooker.publish("accessory-bridge/gateway-0/info", "{}", isRetained: true)
        try await scene.onlooker.wait("accessory-bridge/gateway-0/info", "{}")
        let watch = try scene.gateway.start("bridge-fleet", ["watch", "--json"] + scene.broker.options())
        _ = try await watch.lines(count)
        #expect(watch.transcript.value.errorText.isEmpty, "\(watch.transcript.value.errorText)")
        await scene.onlooker.publish("accessory-bridge/gateway-3/availability", "offline", isRetained: true)
        _ = try await watch.line { $0.contains("disconnected") && $0.contains("gateway-3\"") }
        watch.signal(SIGINT)
        #expect(try await watch.end().status == 0)
        let list = try await look(scene, "list")
        #expect(list.document?["devices"]?.elements?.count == count && list.document?["complete"] == .bool(true))
        let one = try await look(scene, "request", "gateway-29:S2", "beep", "--timeout", "5s")
        #expect(one.end.status == 75 && one.end.outputText.contains("did not answer"), "\(one.end.outputText)")
      }
    }

    /// What goes wrong before anything is shown.
    @Test func failuresOfACommandHaveTheirExitStatus() async throws {
      try await with { scene in
        let empty = try await look(scene, "list")
        #expect(empty.end.status == 0 && empty.document?["devices"]?.elements?.isEmpty == true)
        let nothing = try await look(scene, "battery")
        #expect(nothing.end.status == EX_NOINPUT && nothing.document?["error"]?["kind"]?.text == "not_found")
        func run(_ words: String...) async throws -> Program.Transcript {
          try await scene.gateway.start("bridge-fleet", words).end()
        }
        let unnamed = try await run("list")
        #expect(unnamed.status == EX_USAGE && unnamed.errorText.contains("ACCESSORY_BRIDGE_BROKER"))
        let port = try LocalPort.free()
        let absent = try await run("list", "--broker", "mqtt://localhost:\(port)", "--json")
        #expect(absent.status == EX_UNAVAILABLE, "\(absent.outputText)")
        let insecure = try await run("list", "--broker", "mqtts://localhost:\(scene.broker.port)", "--timeout", "3")
        #expect(insecure.status != 0 && insecure.outputText.isEmpty, "\(insecure.errorText)")
      }
    }
  }
}

extension JSON {
  /// A field of an object.
  subscript(_ name: String) -> JSON? { fields?[name] }

  /// The elements of a list.
  var elements: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
}
