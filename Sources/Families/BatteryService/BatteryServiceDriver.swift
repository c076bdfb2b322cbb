// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDrivers

extension Driver {
  /// The driver of Bluetooth Low Energy devices of any make that tell their battery, and what they are, by the services that the
  /// Bluetooth SIG has for that: the Battery Service (180f) and Device Information (180a).
  ///
  /// Left out: states, times and health of the Battery Service 1.1 (2be9 to 2bf0). bluetoothd keeps the service to itself, and tells the
  /// level alone.
  ///
  /// It only reads, and its accessories have no stream of bytes. Raw bytes to anything else that is opened with it need permission.
  public static let batteryService = Driver(
    name: BatteryServiceDevice.driverName, summary: "any Bluetooth LE device with a Battery Service",
    polls: [AccessoryPoll("battery", parts: [.battery])], rawBytes: .guarded,
    lacks: [.status, .files, .requests], channel: GATTValues.self
  ) { values, _, _ throws(AccessoryError) in try await BatteryServiceDevice.open(values) }
  .shipping { [.batteryService] }
}

extension Profile {
  /// The profile for devices for which the user names the driver.
  public static let batteryService = shipped(
    PackageResources.ble_battery_yaml, driver: BatteryServiceDevice.driverName)
}

/// A Bluetooth Low Energy device of any make: the `ble-battery` driver.
public final class BatteryServiceDevice: Accessory {
  /// The driver's name in profiles.
  public static let driverName = "ble-battery"

  /// The device's name in messages to the user.
  public let label: String
  private let values: GATTValues
  /// The batteries of a device with several, as they were read last.
  private let batteries = Locked<[GATTValues.Battery]>([])

  private init(_ values: GATTValues) { (self.values, label) = (values, values.label) }

  /// Closes the connection when it is released.
  deinit { values.beginClose() }

  /// The characteristics of Device Information, each a text.
  private enum Information: UInt16, CaseIterable {
    case model = 0x2A24
    case serialNumber = 0x2A25
    case firmware = 0x2A26
    case hardware = 0x2A27
    case manufacturer = 0x2A29
  }

  /// The longest text in bytes: that of a name.
  private static let textLimit = 248

  /// The device that is connected as `values`, which it owns from now on. Nothing is sent. Throws `unsupported`, after closing the
  /// connection, where it has neither of the two services.
  public static func open(_ values: GATTValues) async throws(AccessoryError) -> BatteryServiceDevice {
    let services = await values.services()
    guard [0x180F, 0x180A].contains(where: { services.contains(BluetoothUUID(short: $0)) }) else {
      await values.close()
      throw AccessoryError(
        .unsupported, "\(values.label) has neither a Battery Service (180f) nor Device Information (180a)")
    }
    return BatteryServiceDevice(values)
  }

  /// Reads what the device tells about itself. What it doesn't tell, or only to a paired computer, is empty.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    AccessoryIdentity(
      manufacturer: try await text(.manufacturer), model: try await text(.model),
      serialNumber: try await text(.serialNumber), firmwareRevision: try await text(.firmware),
      hardwareRevision: try await text(.hardware))
  }

  private func text(_ information: Information) async throws(AccessoryError) -> String {
    do throws(AccessoryError) {
      let bytes = try await values.read(BluetoothUUID(short: information.rawValue)) ?? []
      // Some devices send all of a buffer.
      return String(decoding: bytes.prefix { $0 != 0 }.prefix(Self.textLimit), as: UTF8.self)
    } catch {
      guard [.permissionDenied, .unsupported, .notFound].contains(error.kind) else { throw error }
      return ""
    }
  }

  /// How full the battery is; of several the one that is the least full. Throws `unsupported` where the device has no Battery Service.
  public func battery() async throws(AccessoryError) -> BatteryReading { try await readBattery().value }

  /// The same, with the batteries that it leaves out.
  public func readBattery() async throws(AccessoryError) -> Read<BatteryReading> {
    let several = try await values.batteries()
    batteries.withLock { $0 = several }
    guard let lowest = several.map(\.percent).min() else {
      return Read(Self.reading(try await values.batteryPercent()), age: .zero)
    }
    let all = several.map { "\(SafeText.escape($0.name, limit: 32)) \($0.percent) %" }.joined(separator: ", ")
    let text = "it has \(several.count) batteries, of which this is the lowest: \(all)"
    return Read(Self.reading(lowest), age: .zero).lacking(several.count > 1 ? text : nil)
  }

  /// Each battery of a device that has several. Throws `unsupported` for any other device.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    let several = try await values.batteries()
    guard !several.isEmpty else {
      throw AccessoryError(.unsupported, "\(label) reports no values beside its battery")
    }
    var names: Set<String> = []
    return several.enumerated().map { index, battery in
      let plain = String(battery.name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
      let isUnique = plain.contains { $0 != "_" } && names.insert(plain).inserted
      return AccessoryValue(
        "battery_" + (isUnique ? plain : "\(index + 1)"), unit: .percent, content: .number(Double(battery.percent)))
    }
  }

  private static func reading(_ percent: Int) -> BatteryReading {
    BatteryReading(percent: percent, level: BatteryReading.Level(percent: percent))
  }

  /// The battery, whenever its percentage changes.
  public func news() -> EventStream<AccessoryNews> {
    values.batteryChanges().converted { [weak self] percent in
      // bluetoothd follows the first one alone.
      let others = self?.batteries.withLock { $0.dropFirst().map(\.percent) } ?? []
      return .battery(Self.reading(others.min().map { min($0, percent) } ?? percent))
    }
  }

  /// Ends the connection, if this program has made it.
  public func close() async { await values.close() }
}
