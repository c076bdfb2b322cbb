// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import CommandOutput

/// Low batteries, as services report them: a view of their mirror.
actor LowBatteries {
  typealias Body = @Sendable (Device, BatteryReading) async -> Void

  private let body: Body
  /// The identities of the devices with a low battery, by the services' sockets.
  private var low: [String: ReportedDevices<Void>] = [:]
  private var isTooMuchTold: Set<String> = []

  /// The most bytes of device identities stored per service: 256 bytes for each device that it can have.
  private static let byteLimit = ReplyLimits.devices * 256

  /// Calls `body` for each battery that is low or becomes low, and again only after it has recovered.
  init(_ body: @escaping Body) { self.body = body }

  /// The data that the mirror requests.
  static let interests: ServiceMirror.Interests = .batteries

  /// Takes what the mirror has learned of the service at `place`.
  func take(_ event: MirrorEvent, of place: String) async {
    switch event {
    case .begun: low[place] = ReportedDevices(byteLimit: Self.byteLimit)
    case .read(let device, let answers):
      if let battery = answers.battery { await take(battery.value, of: device, place) }
    case .event(.battery(let device, let battery, _)): await take(battery, of: device, place)
    case .event(.disconnected(let device, _)): low[place]?.remove(device.id)
    case .event, .ended: break
    }
  }

  private func take(_ reading: BatteryReading, of device: Device, _ place: String) async {
    guard reading.level == .low || reading.level == .critical else {
      low[place]?.remove(device.id)
      return
    }
    guard low[place]?[device.id] == nil else { return }
    if low[place]?.keep((), for: device.id) ?? false {
      await body(device, reading)
    } else if isTooMuchTold.insert(place).inserted {
      Output.note(
        "the service at \(place) reports more than \(ReplyLimits.devices) low batteries, or too much about them: "
          + "the rest is ignored")
    }
  }
}
