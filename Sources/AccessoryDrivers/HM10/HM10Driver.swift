// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// HM-10 and HM-11 Bluetooth modules.
  public static let hm10 = Driver(
    name: HM10Module.driverName, summary: "HM-10 and HM-11 modules", commands: HM10Module.commands,
    hasRadio: true, frames: { HM10FrameReader() }
  ) {
    session, _, clock throws(AccessoryError) in
    try await HM10Module.open(session, clock: clock)
  }
}

extension HM10Module: Accessory {
  /// The module itself.
  public var radio: (any HM10Radio)? { self }

  /// Asks for name, address and version.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    AccessoryIdentity(
      manufacturer: "", name: try await name(), model: dialect == .clone ? "HM-10 (clone)" : "HM-10",
      serialNumber: try await address().digits, firmwareRevision: try await version(), hardwareRevision: "")
  }

  /// Busy while it is connected.
  public func status() async throws(AccessoryError) -> AccessoryStatus {
    if isConnected { return AccessoryStatus(state: .busy) }
    try await ask(.attention)
    return AccessoryStatus(state: .idle)
  }

  /// Asks for the percent.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    BatteryReading(percent: try await batteryPercent())
  }

  /// Connections and their ends are changes of its status; all else only its own events tell.
  public func news() -> EventStream<AccessoryNews> {
    link.news { event in
      switch event {
      case .connected: .status(AccessoryStatus(state: .busy))
      case .lost: .status(AccessoryStatus(state: .idle))
      case .found, .data, .told: .other
      }
    }
  }
}
