// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

extension WithBroker {
  /// A broker that gives nothing of what it has kept to subscriptions with wildcards.
  @Suite struct WildcardTests {
    /// The publisher says what is wrong; an accessory that is named with its gateway is found; a list says what may be wrong.
    @Test func aBrokerWithoutWildcardsIsReported() async throws {
      let directory = try TemporaryDirectory()
      let broker = try WildcardlessBroker()
      let machine = try TestGateway("attic", directory: directory)
      let publisher = try machine.start(
        "bridge-fleet", ["publish", "--gateway", "attic", "--socket", "no.socket", "--broker", broker.address])
      _ = try await publisher.transcript.wait { $0.status != nil || $0.errorText.contains("RabbitMQ never does") }
      var state = FleetState(Device(id: "SIM0001", path: "/dev/ttyUSB0", source: .udev), connected: true, at: 1)
      (state.battery, state.batteryTime) = (SampleBridge.battery, MonotonicTime(since1970: 1))
      let bytes = state.bytes
      broker.kept.update { kept in
        kept["accessory-bridge/attic/SIM0001/availability"] = Array("online".utf8)
        kept["accessory-bridge/attic/SIM0001/state"] = bytes
      }
      let battery = try await machine.start("bridge-fleet", ["battery", "attic:SIM0001", "--broker", broker.address])
        .end()
      #expect(battery.status == 0 && battery.outputText.contains("57 %"), "\(battery.outputText) \(battery.errorText)")
      let list = try await machine.start("bridge-fleet", ["list", "--broker", broker.address]).end()
      #expect(list.status == 0 && list.errorText.contains("has no accessory"), "\(list.errorText)")
      #expect(list.errorText.contains("RabbitMQ: then name an accessory with its gateway"), "\(list.errorText)")
      for arguments in [["battery", "SIM0001"], ["battery"]] {
        let ended = try await machine.start("bridge-fleet", arguments + ["--broker", broker.address]).end()
        #expect(ended.status == EX_NOINPUT && ended.errorText.contains("as RabbitMQ"), "\(ended.errorText)")
      }
      let watch = try machine.start("bridge-fleet", ["watch", "--broker", broker.address])
      _ = try await watch.transcript.wait { $0.status != nil || $0.errorText.contains("as RabbitMQ") }
      watch.signal(SIGINT)
      #expect(try await watch.end().errorText.contains("as RabbitMQ"))
      publisher.signal(SIGTERM)
      #expect(try await publisher.end().status == 0)
    }

    /// Of a broker that gives them, nothing is said.
    @Test func noWarningIsGivenWhereTheBrokerDeliversAll() async throws {
      try await with { scene in
        let publisher = try await scene.start(scene.gateway)
        try await scene.isQuiet()
        publisher.signal(SIGTERM)
        #expect(try await publisher.end().errorText.contains("RabbitMQ") == false)
      }
    }
  }
}
