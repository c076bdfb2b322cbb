// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import BridgeService

/// Batteries that get low, as services tell of them.
enum LowBatteries {
  typealias Body = @Sendable (Device, BatteryReading) async -> Void

  /// Calls `body` for each battery that is low or gets so, once until it is no more, of all services that run or start
  /// later. Returns when the task is cancelled.
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

  /// Follows one service to its end.
  private static func follow(_ place: String, _ body: Body) async throws {
    let client = try await BridgeClient.connect(to: place, patience: .seconds(60))
    var low: Set<String> = []
    for try await event in try await BridgeClient.events(at: place) {
      let (facts, reading): (Bridge.Device, BatteryReading)
      switch event {
      case .present(let device):
        guard let battery = try? await client.device(device.path).battery().battery else { continue }
        (facts, reading) = (device, battery.reading)
      case .battery(let device, let battery): (facts, reading) = (device, battery)
      case .disconnected(let device, _):
        low.remove(device.id)
        continue
      case .ready, .connected, .status, .requestFailed: continue
      }
      guard reading.level == .low || reading.level == .critical else {
        low.remove(facts.id)
        continue
      }
      if low.insert(facts.id).inserted { await body(Device(facts), reading) }
    }
  }
}
