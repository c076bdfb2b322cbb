// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

extension WithBroker {
  /// A gateway with many accessories, and one whose readings don't change.
  @Suite struct ScaleTests {
    private static func device(_ number: Int) -> Device {
      Device(id: "A\(number)", path: "/dev/ttyUSB\(number)", source: .udev)
    }

    private func publisher(_ scene: Scene, sockets: [String] = []) throws -> FleetPublisher {
      let settings = PublisherSettings(
        gateway: TopicLevel(level: "attic")!, host: "box", version: "1", sockets: sockets)
      return FleetPublisher(settings, mqtt: MQTTClient(try scene.broker.settings("publisher")), log: .silent)
    }

    /// A service is asked for its list a few times, however many accessories it has: the list grows with them.
    @Test func theListIsRequestedOnlyAFewTimes() async throws {
      try await with { scene in
        let count = 200
        func text(_ value: some Encodable) throws -> String {
          String(decoding: try JSON(encoding: value).bytes, as: UTF8.self)
        }
        var events = try (0..<count).map { try text(Bridge.Event(.present, time: 1, device: Self.device($0))) }
        events.append(try text(Bridge.Event(.ready, time: 1)))
        let list = Bridge.List.Reply(
          accessories: (0..<count).map { Bridge.Accessory(device: Self.device($0), state: .attached, profile: "plug") })
        let path = scene.directory.path + "/canned.socket"
        let service = try CannedService(
          at: path,
          [
            "Subscribe": ["!" + events.map { #"{"parameters":\#($0),"continues":true}"# }.joined(separator: "\0")],
            "List": [try text(list)],
            "Battery": [try text(Bridge.GetBattery.Reply(device: Self.device(0), Read(SampleBridge.battery)))],
          ])
        let publisher = try publisher(scene, sockets: [path])
        let running = Task { await publisher.run() }
        try await scene.onlooker.seen.wait { $0.latest.count >= 3 * count }
        try await scene.isQuiet()
        let latest = scene.onlooker.seen.value.latest
        let isEach = (0..<count).allSatisfy {
          latest["accessory-bridge/attic/A\($0)/state"]?.contains("\"plug\"") == true
        }
        #expect(isEach)
        #expect(service.calls.value.count { $0 == "Battery" } == count)
        let lists = service.calls.value.count { $0 == "List" }
        #expect(lists < 20, "\(lists) lists of \(count) accessories")
        running.cancel()
        service.close()
        await running.value
      }
    }

    /// Of two thousand accessories at once everything arrives; none of it is dropped for want of room.
    @Test func twoThousandAccessoriesArePublished() async throws {
      try await with { scene in
        let count = 2_000
        let publisher = try publisher(scene)
        let (stream, events) = AsyncStream<MirrorEvent>.makeStream()
        let running = Task {
          await publisher.run { mirror, hooks in
            for await event in stream { await mirror.take(event, of: FleetPublisher.place, hooks) }
          }
        }
        for number in 0..<count { events.yield(.event(.present(Self.device(number)))) }
        events.yield(.event(.ready))
        // Three for each accessory, and those of the gateway.
        try await scene.onlooker.seen.wait { $0.latest.count >= 3 * count + 3 }
        let latest = scene.onlooker.seen.value.latest
        for number in 0..<count {
          #expect(latest["accessory-bridge/attic/A\(number)/availability"] == "online")
          #expect(latest["homeassistant/device/attic/A\(number)/config"] != nil)
        }
        running.cancel()
        events.finish()
        await running.value
      }
    }

    /// A reading that is reported again and has not changed is not published again; one that has is.
    @Test func unchangedReadingsAreNotPublishedAgain() async throws {
      try await with { scene in
        let publisher = try publisher(scene)
        let (stream, events) = AsyncStream<MirrorEvent>.makeStream()
        let running = Task {
          await publisher.run { mirror, hooks in
            for await event in stream { await mirror.take(event, of: FleetPublisher.place, hooks) }
          }
        }
        let device = Self.device(1)
        var reading = BatteryReading(percent: 57, level: .normal, millivolts: 3_700, milliamperes: -120)
        func report() {
          events.yield(.event(.battery(device, reading)))
          events.yield(.event(.status(device, AccessoryStatus(state: .idle))))
          events.yield(
            .event(.values(device, [AccessoryValue("speed", quantity: .speed, unit: .metrePerSecond, number: 1)])))
        }
        let topic = "accessory-bridge/attic/A1/state"
        events.yield(.event(.present(device)))
        events.yield(.event(.ready))
        report()
        try await scene.onlooker.wait(topic, "3700")
        try await scene.isQuiet()
        scene.onlooker.forgetCounts()
        for _ in 0..<5 { report() }
        reading.millivolts = 3_600
        report()
        try await scene.onlooker.wait(topic, "3600")
        try await scene.isQuiet()
        let counts = scene.onlooker.seen.value.counts
        #expect(counts == [topic: 1, "accessory-bridge/attic/A1/event": 1], "\(counts)")
        running.cancel()
        events.finish()
        await running.value
      }
    }
  }
}
