// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// The driver of HM-10 and HM-11 Bluetooth modules.
  ///
  /// Raw bytes are harmless: the bytes are for the device at the other end of the radio connection, which is what a
  /// module is for. Its settings can be changed by its commands without permission, too.
  public static let hm10 = Driver(
    name: HM10Module.driverName, summary: "HM-10 and HM-11 modules", commands: HM10Module.commands,
    accessoryType: HM10Module.self, rawBytes: .harmless, lacks: [.files, .requests],
    preview: { calls, _ throws(AccessoryError) in try HM10Module.preview(of: calls) },
    previewRemark: HM10Module.previewRemark, frames: { HM10FrameReader() }
  ) {
    session, _, clock throws(AccessoryError) in
    try await HM10Module.open(session, clock: clock)
  }
  .shipping { [.hm10] }
  // It takes a command by the pause behind it.
  .endingCommands(with: [])
  .found(by: hm10Probe, at: [.init(9_600, .endsConnections), .init(9_600, .endsConnections, form: "clone")])
}

extension Profile {
  /// The profile for HM-10 modules that simulators announce, or that the user names as the driver.
  public static let hm10 = shipped(PackageResources.hm10_yaml, driver: HM10Module.driverName)
}

extension HM10Module: LinkedAccessory, RadioAccessory {
  /// The module is its own radio.
  public var radio: (any HM10Radio)? { self }

  /// Asks for the name, the address and the version.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity { try await readIdentity().value }

  /// Asks for the same, and says what of it isn't answered.
  public func readIdentity() async throws(AccessoryError) -> Read<AccessoryIdentity> {
    try await answers([
      ("name", { @Sendable () async throws(AccessoryError) in try await name() }),
      ("address", { @Sendable () async throws(AccessoryError) in try await address().digits }),
      ("version", { @Sendable () async throws(AccessoryError) in try await version() }),
    ]).map { told in
      AccessoryIdentity(
        manufacturer: "", name: told["name"] ?? "", model: dialect == .clone ? "HM-10 (clone)" : "HM-10",
        serialNumber: told["address"] ?? "", firmwareRevision: told["version"] ?? "", hardwareRevision: "")
    }
  }

  /// Returns `busy` while the module is connected, without asking it; otherwise asks whether it is there.
  public func status() async throws(AccessoryError) -> AccessoryStatus {
    if isConnected { return AccessoryStatus(state: .busy) }
    _ = try await reading(.status) { () throws(AccessoryError) in try await ask(.attention) }
    return AccessoryStatus(state: .idle)
  }

  /// Asks for the battery's charge in percent.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    BatteryReading(percent: try await reading(.battery) { () throws(AccessoryError) in try await batteryPercent() })
  }

  /// Returns whether the module is connected, and to which device. While it isn't connected, this also asks for its
  /// role and its transmit power. Settings that the module refuses to report are unknown: clones refuse most of them.
  public func values() async throws(AccessoryError) -> [AccessoryValue] { try await readValues().value }

  /// The same, and says what the module doesn't answer.
  public func readValues() async throws(AccessoryError) -> Read<[AccessoryValue]> {
    let isConnected = isConnected
    let settings =
      isConnected
      ? Read([:], age: .zero)
      : try await answers([
        ("role", { @Sendable () async throws(AccessoryError) in try await value(of: .role) }),
        ("power", { @Sendable () async throws(AccessoryError) in try await value(of: .power) }),
      ])
    let role = settings.value["role"].flatMap { HM10Role(rawValue: $0) }
    let power = settings.value["power"].flatMap { HM10Power(rawValue: $0) }
    let values = [
      AccessoryValue("connected", quantity: .state, content: .flag(isConnected), importance: .shown),
      AccessoryValue("peer", quantity: .identity, content: isConnected ? peer.map { .text("\($0)") } : nil),
      AccessoryValue(
        "role", quantity: .state, content: role.map { .choice(word: "\($0)", number: $0.rawValue) },
        importance: .setting),
      AccessoryValue(
        "transmit_power", quantity: .signalStrength, unit: .decibelMilliwatt, number: power.map { Double($0.decibels) },
        importance: .setting),
    ]
    return settings.map { _ in values }
  }

  /// Connections and their ends are news of the status; every other event is `other`.
  public func news() -> EventStream<AccessoryNews> {
    link.news { event in
      switch event {
      case .connected: .status(AccessoryStatus(state: .busy))
      case .lost: .status(AccessoryStatus(state: .idle))
      case .found, .data, .other: .other
      }
    }
  }
}
