// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import CommandOutput
import Glibc

/// The places where the command searches for devices.
enum KnownDevices {
  /// The sources that ACCESSORY_BRIDGE_SOURCES names; simulators, udev, Bluetooth and power supplies without that variable. Throws
  /// `UsageError` when it names another source.
  static func source() throws -> CombinedSource { CombinedSource(try sources()) }

  /// The same sources as a list.
  static func sources() throws -> [any DeviceSource] {
    guard let named else { return ofService + [PowerSupplySource()] }
    return try sources(named)
  }

  /// The sources of a service, and the one that its configuration may add: nobody wants every laptop's battery in a fleet.
  static func serviceSources() throws -> (sources: [any DeviceSource], powerSupplies: PowerSupplySource?) {
    guard let named else { return (ofService, PowerSupplySource()) }
    return (try sources(named), nil)
  }

  private static var ofService: [any DeviceSource] { [SimulatorSource(), UdevSource(), BluetoothSource()] }

  /// What ACCESSORY_BRIDGE_SOURCES says.
  private static var named: String? {
    getenv("ACCESSORY_BRIDGE_SOURCES").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func sources(_ text: String) throws -> [any DeviceSource] {
    if text == "none" { return [] }
    return try text.split(separator: ",").map { name in
      switch name {
      case Substring(Device.Source.simulator.rawValue): return SimulatorSource() as any DeviceSource
      case Substring(Device.Source.udev.rawValue): return UdevSource()
      case Substring(Device.Source.bluetooth.rawValue): return BluetoothSource()
      case Substring(TransportKind.powerSupply.rawValue): return PowerSupplySource()
      default:
        throw UsageError(
          "ACCESSORY_BRIDGE_SOURCES must be none, or some of simulator,udev,bluetooth,power_supply, not \(name)")
      }
    }
  }

  /// The devices that `name` may mean. For a line with several accessories these are the accessories, or the line
  /// itself where `areLines` is true.
  static func devices(for name: DeviceName, lines areLines: Bool = false) async throws -> [Device] {
    let devices = try await name.devices(of: sources())
    return areLines ? devices : await accessories(on: devices)
  }

  /// The accessories on these lines, as profiles list them.
  static func accessories(on lines: [Device]) async -> [Device] {
    guard !lines.isEmpty else { return [] }
    return NamedAccessory.marked(lines.flatMap(await KnownProfiles.store.accessories))
  }
}
