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

  private static func watch(_ place: String, _ body: Body) async {
    let starts = ServiceStarts(at: place)
    defer { starts.stop() }
    for await _ in starts.signals {
      try? await follow(place, body)
      if Task.isCancelled { return }
    }
  }

  /// The most bytes of device identities stored per service: 256 bytes for each device that it can have.
  private static let byteLimit = ReplyLimits.devices * 256

  /// Follows the events of one service until they end.
  private static func follow(_ place: String, _ body: Body) async throws {
    let client = try await BridgeClient.connect(to: place, replyTimeout: .seconds(60))
    // The identities of the devices with a low battery.
    var low = ReportedDevices<Void>(byteLimit: byteLimit)
    var isTooMuchTold = false
    for try await event in try await BridgeClient.events(at: place) {
      let (facts, reading): (Bridge.Device, BatteryReading)
      switch event {
      case .present(let device):
        guard let battery = try? await client.device(device.place).battery().battery else { continue }
        (facts, reading) = (device, battery.reading)
      case .battery(let device, let battery): (facts, reading) = (device, battery)
      case .disconnected(let device, _):
        low.remove(device.id)
        continue
      case .ready, .connected, .status, .values, .requestFailed, .alarm: continue
      }
      guard reading.level == .low || reading.level == .critical else {
        low.remove(facts.id)
        continue
      }
      guard low[facts.id] == nil else { continue }
      if low.keep((), for: facts.id) {
        await body(Device(facts), reading)
      } else if !isTooMuchTold {
        isTooMuchTold = true
        Output.note(
          "the service at \(place) reports more than \(ReplyLimits.devices) low batteries, or too much about them: "
            + "the rest is ignored")
      }
    }
  }
}
