// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import MessageBus

/// A Bluetooth adapter of this computer, as BlueZ reports it.
package struct BluetoothAdapter: Sendable, Equatable {
  /// The path of its object, such as `/org/bluez/hci0`.
  package let path: String
  package var address: BluetoothAddress?
  /// Whether its radio is on.
  package var isPowered = false
  /// Whether it is searching for devices, for this program or another.
  package var isDiscovering = false

  /// The kernel's name of the adapter, such as `hci0`.
  package var name: String { String(path.split(separator: "/").last ?? "") }
}

/// A device that BlueZ knows: found by a search, connected, or paired.
package struct BluetoothDevice: Sendable, Equatable {
  /// The path of its object, such as `/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF`.
  package let path: String
  package var address: BluetoothAddress?
  /// Whether the address is a random one, which may change.
  package var hasRandomAddress = false
  /// The name that it advertises; nil if it advertises none. Escape it before showing it.
  package var name: String?
  /// The name that the user gave it; nil when the user gave none. Escape it, too.
  package var alias: String?
  /// The services that it advertises.
  package var services: Set<BluetoothUUID> = []
  /// The data of manufacturers that it sends, by the number of the company.
  package var manufacturerData: [UInt16: [UInt8]] = [:]
  /// The data of services that it sends.
  package var serviceData: [BluetoothUUID: [UInt8]] = [:]
  /// Its transmission power in dBm; nil if it doesn't advertise that.
  package var sendingPower: Int?
  /// The strength of the last signal in dBm; nil outside of searches.
  package var signalStrength: Int?
  /// Whether it is connected, by this program or another.
  package var isConnected = false
  /// Whether the GATT services are known; this is true soon after connecting.
  package var hasServicesResolved = false
  /// Whether it is paired with this computer.
  package var isPaired = false
  /// Whether the user trusts it.
  package var isTrusted = false
  /// The class of a Bluetooth Classic device; nil for others.
  package var deviceClass: UInt32?
  /// The charge of its battery in percent, if bluetoothd has read it from the Battery Service; otherwise nil.
  package var batteryPercent: Int?
  /// The path of its adapter.
  package var adapter: String

  /// Whether nobody has connected, paired or trusted it.
  var isStranger: Bool { !BluetoothIdentity.isKnown(connected: isConnected, paired: isPaired, trusted: isTrusted) }

  /// Whether its address changes from time to time: a random address that isn't static (the first two bits are set in static ones),
  /// of an unpaired device. BlueZ knows a paired device by its permanent address.
  var hasPassingAddress: Bool { hasRandomAddress && !isPaired && address.map { $0.rawValue >> 46 != 3 } ?? false }
}

// MARK: - Properties

extension BluetoothAdapter {
  mutating func take(_ properties: [String: BusValue]) {
    if let address = properties["Address"]?.text { self.address = BluetoothAddress(address) }
    if let isPowered = properties["Powered"]?.boolean { self.isPowered = isPowered }
    if let isDiscovering = properties["Discovering"]?.boolean { self.isDiscovering = isDiscovering }
  }
}

extension BluetoothDevice {
  /// The most services and the most manufacturers that are kept, and the most bytes of their data.
  private static let limits = (services: 64, manufacturers: 8, data: 255)

  mutating func take(_ properties: [String: BusValue], without invalid: [String]) {
    if let address = properties["Address"]?.text { self.address = BluetoothAddress(address) }
    if let kind = properties["AddressType"]?.text { hasRandomAddress = kind == "random" }
    if let name = properties["Name"]?.text { self.name = Self.cut(name) }
    // If the user gave no name, BlueZ's alias is the device's name, or its address.
    if let alias = properties["Alias"]?.text { self.alias = Self.cut(alias) }
    if let uuids = properties["UUIDs"]?.texts {
      services = Set(uuids.prefix(Self.limits.services).compactMap { BluetoothUUID($0) })
    }
    if let adapter = properties["Adapter"]?.path, adapter.utf8.count <= BluetoothObjects.textLimit.path {
      self.adapter = adapter
    }
    if let strength = properties["RSSI"]?.integer.flatMap(Int16.init(exactly:)) { signalStrength = Int(strength) }
    if let isConnected = properties["Connected"]?.boolean { self.isConnected = isConnected }
    if let isResolved = properties["ServicesResolved"]?.boolean { hasServicesResolved = isResolved }
    if let isPaired = properties["Paired"]?.boolean { self.isPaired = isPaired }
    if let isTrusted = properties["Trusted"]?.boolean { self.isTrusted = isTrusted }
    if let number = properties["Class"]?.integer { deviceClass = UInt32(exactly: number) }
    if let entries = properties["ManufacturerData"]?.entries {
      manufacturerData = [:]
      for entry in entries.prefix(Self.limits.manufacturers) {
        guard let company = entry.key.integer.flatMap(UInt16.init(exactly:)), let data = entry.value.bytes else {
          continue
        }
        manufacturerData[company] = Array(data.prefix(Self.limits.data))
      }
    }
    if let entries = properties["ServiceData"]?.entries {
      serviceData = [:]
      for entry in entries.prefix(Self.limits.services) {
        guard let service = entry.key.text.flatMap({ BluetoothUUID($0) }), let data = entry.value.bytes else {
          continue
        }
        serviceData[service] = Array(data.prefix(Self.limits.data))
      }
    }
    if let power = properties["TxPower"]?.integer.flatMap(Int16.init(exactly:)) { sendingPower = Int(power) }
    if invalid.contains("RSSI") { signalStrength = nil }
    if invalid.contains("Name") { name = nil }
  }

  mutating func take(battery properties: [String: BusValue]) {
    guard let percent = properties["Percentage"]?.integer, 0...100 ~= percent else { return }
    batteryPercent = Int(percent)
  }

  /// At most as many bytes as a Bluetooth name can have, cut between characters.
  private static func cut(_ text: String) -> String? {
    guard !text.isEmpty else { return nil }
    guard text.utf8.count > BluetoothObjects.textLimit.name else { return text }
    var count = 0
    return String(
      text.unicodeScalars.prefix { scalar in
        count += UTF8.width(scalar)
        return count <= BluetoothObjects.textLimit.name
      })
  }
}

extension UTF8 {
  fileprivate static func width(_ scalar: Unicode.Scalar) -> Int { Unicode.UTF8.encode(scalar)?.count ?? 4 }
}
