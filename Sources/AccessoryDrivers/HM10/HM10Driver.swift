// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// HM-10 and HM-11 Bluetooth modules.
  public static let hm10 = Driver(
    name: HM10Module.driverName, summary: "HM-10 and HM-11 modules", commands: HM10Module.commands,
    hasRadio: true, lacks: [.files, .requests],
    preview: { calls, _ throws(AccessoryError) in try HM10Module.preview(of: calls) },
    previewRemark: HM10Module.previewRemark, frames: { HM10FrameReader() }
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

  /// Tells whether and to whom it is connected; where it isn't, asks for its role and how strongly it sends. What it
  /// refuses isn't known: a clone refuses most.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    let isConnected = isConnected
    let role = isConnected ? nil : try await known(.role).flatMap { HM10Role(rawValue: $0) }
    let power = isConnected ? nil : try await known(.power).flatMap { HM10Power(rawValue: $0) }
    return [
      AccessoryValue("connected", .state, nil, .flag(isConnected)),
      AccessoryValue("peer", .identity, nil, isConnected ? peer.map { .text("\($0)") } : nil),
      AccessoryValue("role", .state, nil, role.map { .choice(word: "\($0)", number: $0.rawValue) }),
      AccessoryValue(
        "transmit_power", .signalStrength, .decibelMilliwatt, number: power.map { Double($0.decibels) }),
    ]
  }

  /// What a setting is; nil where the module refuses to tell.
  private func known(_ setting: HM10Setting) async throws(AccessoryError) -> Int? {
    do throws(AccessoryError) {
      return try await value(of: setting)
    } catch {
      guard error.kind == .refused else { throw error }
      return nil
    }
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
