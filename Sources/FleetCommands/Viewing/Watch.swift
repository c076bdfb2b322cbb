// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryFleet
import ArgumentParser
import CommandOutput

struct Watch: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Shows accessories of all gateways as they come and go.",
    discussion: """
      Connected accessories and raised alarms are shown first. The accessories of a gateway that goes offline are \
      disconnected, and they are connected when it comes back. If the broker was away and comes back without what it had \
      kept, a gateway that doesn't publish again within 20 seconds is gone. Ctrl-C ends it.

      EXAMPLES
        bridge-fleet watch --broker mqtt://broker.example
        bridge-fleet watch --gateway attic
        bridge-fleet watch --json | jq -r '.event + " " + .gateway + ":" + .device.id'
      """)

  @OptionGroup var fleet: FleetOptions
  @OptionGroup var output: OutputOptions

  /// What was shown of an accessory.
  private struct Shown {
    var device: Device
    var isConnected: Bool
    var alarms: [AccessoryAlarm] = []
  }

  func run() async throws {
    Interruption.endWithOutput()
    try await FleetSession.with(fleet, follows: true) { session in
      var shown: [FleetStore.Key: Shown] = [:]
      let accessories = try await session.all().accessories
      if accessories.isEmpty { Output.note(session.emptiness) }
      for one in accessories { update(one.key, one, isOnline: one.isOnline, &shown[one.key]) }
      try await session.follow { news, fleet in
        let keys: Set<FleetStore.Key>
        switch news {
        case .change(.gateway(let gateway, _)):
          keys = Set((fleet.keys + shown.keys).filter { $0.gateway == gateway })
        case .change(.accessory(let key, _)): keys = [key]
        default: keys = []
        }
        for key in keys.sorted() {
          update(key, fleet.accessory(key), isOnline: fleet.gateways[key.gateway] ?? false, &shown[key])
        }
      }
    }
  }

  /// Shows what has changed. `before` is what was shown; nil for nothing.
  private func update(_ key: FleetStore.Key, _ one: FleetAccessory?, isOnline: Bool, _ before: inout Shown?) {
    let isConnected = one?.state.isConnected ?? false
    let device = one?.state.device ?? before?.device
    guard let device else { return }
    let place = FleetPlace(gateway: key.gateway.text, online: isOnline, connected: isConnected)
    if isConnected != before?.isConnected ?? false {
      show(isConnected ? .connected : .disconnected, key, device, place)
    }
    // The alarms of a gateway that is offline are its last word.
    let (old, new) = (before?.alarms ?? [], one?.state.alarms ?? [])
    for alarm in old where !new.contains(where: { $0.name == alarm.name }) { show(.cleared, alarm, key, device, place) }
    for alarm in new where !old.contains(where: { $0.name == alarm.name && $0.since == alarm.since }) {
      show(.raised, alarm, key, device, place)
    }
    before = one.map { _ in Shown(device: device, isConnected: isConnected, alarms: new) }
  }

  private func show(_ event: DeviceEventName, _ key: FleetStore.Key, _ device: Device, _ place: FleetPlace) {
    if output.json {
      return Output.json(InFleet(DeviceEventDocument(event, at: WallClock.seconds, DeviceDocument(device)), place))
    }
    Output.wrapped(DeviceEventView.line(event, device) + "  on " + key.gateway.text, indent: 10)
  }

  private func show(
    _ state: AlarmChange, _ alarm: AccessoryAlarm, _ key: FleetStore.Key, _ device: Device,
    _ place: FleetPlace
  ) {
    if output.json { return Output.json(InFleet(AlarmEventDocument(DeviceDocument(device), alarm, state), place)) }
    Output.wrapped(AlarmView.line(state, alarm, device) + "  on " + key.gateway.text, indent: 10)
  }
}
