// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import CommandOutput

/// Low batteries, as services report them.
enum LowBatteries {
  typealias Body = @Sendable (Device, BatteryReading) async -> Void

  /// Calls `body` for each battery that is low or becomes low, and again only after it has recovered. Watches all
  /// services that run now or start later. Returns when the task is cancelled.
  static func watch(_ body: @escaping Body) async {
    await withTaskGroup { group in
      for place in ServicePlace.all() { group.addTask { await watch(place, body) } }
    }
  }

  /// The most bytes of device identities stored per service: 256 bytes for each device that it can have.
  private static let byteLimit = ReplyLimits.devices * 256

  private static func watch(_ place: String, _ body: Body) async {
    var client: BridgeClient?
    // The identities of the devices with a low battery.
    var low = ReportedDevices<Void>(byteLimit: byteLimit)
    var isTooMuchTold = false
    await ServiceFollower([place], replyTimeout: .seconds(60)).run { event in
      let (device, reading): (Device, BatteryReading)
      switch event {
      case .begun(let new):
        (client, low) = (new, ReportedDevices(byteLimit: byteLimit))
        return
      case .event(.present(let present)):
        guard let battery = try? await client?.device(present.place).battery().battery else { return }
        (device, reading) = (present, battery)
      case .event(.battery(let its, let battery, _)): (device, reading) = (its, battery)
      case .event(.disconnected(let gone, _)):
        low.remove(gone.id)
        return
      case .event, .ended: return
      }
      guard reading.level == .low || reading.level == .critical else {
        low.remove(device.id)
        return
      }
      guard low[device.id] == nil else { return }
      if low.keep((), for: device.id) {
        await body(device, reading)
      } else if !isTooMuchTold {
        isTooMuchTold = true
        Output.note(
          "the service at \(place) reports more than \(ReplyLimits.devices) low batteries, or too much about them: "
            + "the rest is ignored")
      }
    }
  }
}
