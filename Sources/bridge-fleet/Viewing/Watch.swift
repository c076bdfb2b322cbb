// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryFleet
import ArgumentParser
import CommandOutput

struct Watch: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Shows accessories of all gateways as they come and go.",
    discussion: """
      Connected accessories are shown first. The accessories of a gateway that goes offline are disconnected, and they are \
      connected when it comes back. Ctrl-C ends it.

      EXAMPLES
        bridge-fleet watch --broker mqtt://broker.example
        bridge-fleet watch --gateway attic
        bridge-fleet watch --json | jq -r '.event + " " + .gateway + ":" + .device.id'
      """)

  @OptionGroup var fleet: FleetOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    Interruption.endWithOutput()
    try await FleetSession.with(fleet) { session in
      await session.reader.follow()
      var connected: [FleetStore.Key: (device: Bridge.Device, place: FleetPlace)] = [:]
      for one in try await session.all().accessories where one.isConnected {
        connected[one.key] = (one.state.device, one.place)
        show(.connected, one.key, one.state.device, one.place)
      }
      try await session.follow { news, fleet in
        let keys: [FleetStore.Key]
        switch news {
        case .change(.gateway(let gateway, _)): keys = fleet.keys.filter { $0.gateway == gateway }
        case .change(.accessory(let key, _)): keys = [key]
        default: keys = []
        }
        for key in keys { update(key, fleet, &connected) }
      }
    }
  }

  private func update(
    _ key: FleetStore.Key, _ fleet: FleetStore,
    _ connected: inout [FleetStore.Key: (device: Bridge.Device, place: FleetPlace)]
  ) {
    let one = fleet.accessory(key)
    switch (connected[key], one) {
    case (nil, let one?) where one.isConnected:
      connected[key] = (one.state.device, one.place)
      show(.connected, key, one.state.device, one.place)
    case (let before?, let one) where one?.isConnected != true:
      connected[key] = nil
      let isOnline = fleet.gateways[key.gateway] ?? false
      show(
        .disconnected, key, one?.state.device ?? before.device,
        FleetPlace(gateway: key.gateway.text, online: isOnline, connected: false))
    default: break
    }
  }

  private func show(_ event: DeviceEventName, _ key: FleetStore.Key, _ device: Bridge.Device, _ place: FleetPlace) {
    if output.json {
      return Output.json(InFleet(DeviceEventDocument(event, at: WallClock.seconds, DeviceDocument(device)), place))
    }
    Output.wrapped(DeviceEventView.line(event, device) + "  on " + key.gateway.text, indent: 10)
  }
}
