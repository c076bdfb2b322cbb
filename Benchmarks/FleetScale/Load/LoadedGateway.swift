// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryFleet
import Logging

/// A gateway of the load: the publisher's own code, with a name and a client identifier of its own, and accessories whose events come from
/// the load program in place of a service.
final class LoadedGateway: Sendable {
  let name: TopicLevel
  private let devices: [Device]
  private let events: AsyncStream<MirrorEvent>.Continuation
  private let work: Task<Void, Never>

  /// Begins to publish. `machine` is the identity that a machine has in /etc/machine-id.
  init(number: Int, accessories: Int, broker: BrokerAddress) {
    let machine = (0..<16).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0 &* 7 &+ number >> 8) }
    let name = GatewayName.standard(hostName: "load-\(number)", identity: machine)
    var settings = PublisherSettings(gateway: name, host: "load-\(number)", version: "1", sockets: [])
    settings.forgetAfter = .seconds(86_400)
    var connection = MQTTSettings(broker, clientID: "load-\(number)")
    connection.will = settings.will
    let (stream, events) = AsyncStream<MirrorEvent>.makeStream(bufferingPolicy: .bufferingOldest(1_024))
    let publisher = FleetPublisher(
      settings, mqtt: MQTTClient(connection), log: Logger(label: "load") { _ in SwiftLogNoOpLogHandler() })
    work = Task {
      await publisher.run { mirror, hooks in
        for await event in stream { await mirror.take(event, of: FleetPublisher.place, hooks) }
      }
    }
    (self.name, self.events) = (name, events)
    devices = (0..<accessories).map { index in
      Device(id: "L\(number)A\(index)", path: "/dev/load/\(index)", source: .simulator)
    }
    for device in devices { events.yield(.event(.present(device))) }
    for device in devices { change(device, millivolts: 3_000) }
    events.yield(.event(.ready))
  }

  private func change(_ device: Device, millivolts: Int) {
    var reading = BatteryReading(percent: 57, level: .normal, millivolts: millivolts, milliamperes: -120)
    reading.timeToEmpty = .seconds(5_400)
    events.yield(.event(.battery(device, reading)))
  }

  /// An accessory's battery has another voltage.
  func change(_ index: Int, millivolts: Int) { change(devices[index % devices.count], millivolts: millivolts) }

  /// Says that the gateway is offline, and leaves the broker.
  func end() async {
    work.cancel()
    events.finish()
    await work.value
  }
}
