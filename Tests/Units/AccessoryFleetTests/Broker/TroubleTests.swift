// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

extension WithBroker {
  /// Brokers, networks and publishers that fail. In each case what is on the broker is right afterwards, and nothing is published
  /// again and again.
  @Suite struct TroubleTests {
    /// A broker that was restarted gets everything again; what changed meanwhile is right.
    @Test(arguments: [true, false])
    func aRestartedBrokerGetsEverythingAgain(isPersistent: Bool) async throws {
      try await with(isPersistent: isPersistent) { scene in
        let (gateway, onlooker) = (scene.gateway, scene.onlooker)
        let accessory = try await gateway.plug("--percent", "57")
        try gateway.serve()
        let publisher = try gateway.publish(scene.broker)
        try await scene.isUp(gateway)
        try await scene.broker.stop()
        accessory.signal(SIGTERM)
        try await accessory.end()
        _ = try await publisher.transcript.wait { $0.status != nil || $0.errorText.contains("the next try is in") }
        try await scene.broker.start()
        try await onlooker.wait(gateway.topic("SIM0001/availability"), "offline")
        try await onlooker.wait(gateway.topic("availability"), "online")
        try await onlooker.wait("homeassistant/device/attic/SIM0001/config", "\"battery\"")
        _ = try await gateway.plug("--percent", "58")
        try await scene.isUp(gateway, percent: 58)
        try await scene.isQuiet()
      }
    }

    /// A broker that was silent for longer than the keepalive has everything right soon after.
    @Test func aBrokerThatHungIsUpToDateAgain() async throws {
      try await with { scene in
        let publisher = try await scene.start(scene.gateway)
        scene.broker.freeze(true)
        _ = try await publisher.transcript.wait { $0.status != nil || $0.errorText.contains("no longer answers") }
        scene.broker.freeze(false)
        _ = try await publisher.transcript.wait { text in
          text.status != nil || text.errorText.ranges(of: "connected to the broker").count >= 2
        }
        try await scene.isUp(scene.gateway)
        try await scene.isQuiet()
      }
    }

    /// The network is cut for longer than the keepalive, in both directions: both ends give the connection up. An accessory that
    /// was unplugged meanwhile is offline when it is back.
    @Test func aNetworkCutEndsInTheRightState() async throws {
      try await with { scene in
        let (gateway, onlooker) = (scene.gateway, scene.onlooker)
        let network = try TestNetwork(to: scene.broker.port)
        defer { network.end() }
        let accessory = try await gateway.plug("--percent", "57")
        try gateway.serve()
        let publisher = try gateway.publish(scene.broker, through: network)
        try await scene.isUp(gateway)
        network.cut(true)
        accessory.signal(SIGTERM)
        try await accessory.end()
        try await onlooker.wait(gateway.topic("availability"), "offline")
        _ = try await publisher.transcript.wait { $0.status != nil || $0.errorText.contains("no longer answers") }
        #expect(onlooker.seen.value.latest[gateway.topic("SIM0001/availability")] == "online")
        network.cut(false)
        try await onlooker.wait(gateway.topic("SIM0001/availability"), "offline")
        try await onlooker.wait(gateway.topic("availability"), "online")
        try await scene.isQuiet()
        #expect(onlooker.seen.value.latest[gateway.topic("availability")] == "online")
      }
    }

    /// A publisher that was killed is offline, and online when it runs again; then nothing is published in a loop.
    @Test func aKilledPublisherIsOfflineUntilItRunsAgain() async throws {
      try await with { scene in
        let (gateway, onlooker) = (scene.gateway, scene.onlooker)
        let publisher = try await scene.start(gateway)
        publisher.signal(SIGKILL)
        try await onlooker.wait(gateway.topic("availability"), "offline")
        onlooker.forgetCounts()
        try gateway.publish(scene.broker)
        try await scene.isUp(gateway)
        // Somebody publishes what only we should; by both it ends with our own word.
        await onlooker.publish(gateway.topic("availability"), "offline", isRetained: true)
        try await onlooker.seen.wait { ($0.counts[gateway.topic("availability")] ?? 0) >= 3 }
        try await onlooker.wait(gateway.topic("availability"), "online")
        try await scene.isQuiet()
        // A few messages for each topic are enough for all of this.
        #expect(onlooker.seen.value.counts.values.allSatisfy { $0 <= 6 }, "\(onlooker.seen.value.counts)")
      }
    }

    /// Two publishers with one name end each other's connections; what they publish for that is bounded by their pauses, and each
    /// says why.
    @Test func twoPublishersOfOneNameAreReported() async throws {
      try await with { scene in
        let first = try await scene.start(scene.gateway)
        let second = try scene.gateway.publish(scene.broker)
        _ = try await first.transcript.wait { $0.status != nil || $0.errorText.contains("run twice for this gateway") }
        #expect(first.transcript.value.status == nil)
        first.signal(SIGTERM)
        try await first.end()
        try await scene.onlooker.wait(scene.gateway.topic("availability"), "online")
        try await scene.isUp(scene.gateway)
        try await scene.isQuiet()
        #expect(second.transcript.value.status == nil)
      }
    }
  }
}
