// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery

/// The part of a rule that matches devices on the air. All properties that aren't nil must match.
///
/// Only the address identifies a device: any device can advertise any name, service and manufacturer.
public struct BluetoothRule: Sendable, Hashable {
  /// The address.
  public var address: BluetoothAddress?
  /// The name that the user gave the device, or the one that it advertises.
  public var name: TextPattern?
  /// A service that it advertises.
  public var service: BluetoothUUID?
  /// The number of a company whose data it sends.
  public var manufacturer: UInt16?

  /// A rule with these properties.
  public init(
    address: BluetoothAddress? = nil, name: TextPattern? = nil, service: BluetoothUUID? = nil,
    manufacturer: UInt16? = nil
  ) {
    (self.address, self.name, self.service, self.manufacturer) = (address, name, service, manufacturer)
  }

  /// Whether the rule matches `device`. A device that was only named has nothing but its address.
  func fits(_ device: Device) -> Bool {
    guard let place = device.bluetooth?.address ?? device.address.bluetooth else { return false }
    if let address, address != place { return false }
    if let name, ![device.name, device.bluetooth?.toldName].contains(where: { $0.map(name.fits) ?? false }) {
      return false
    }
    if let service, device.bluetooth?.services.contains(service) != true { return false }
    if let manufacturer, device.bluetooth?.manufacturers.contains(manufacturer) != true { return false }
    return true
  }

  /// How specific the rule is; see `DeviceRule.specificity`.
  var specificity: [Int] {
    [
      address == nil ? 0 : 2, name.map { $0.isAnything ? 0 : $0.isExact ? 2 : 1 } ?? 0, service == nil ? 0 : 2,
      manufacturer == nil ? 0 : 2,
    ]
  }

  /// Why the rule would match strangers' devices; nil when it is specific enough.
  var overreachProblem: String? {
    if address != nil || name.map({ !$0.isAnything }) ?? false { return nil }
    // A service with a number of the SIG's, or of a common module, is in many kinds of devices.
    if let service, service.description.count > 4, !GATTSerialPort.isKnown(service) { return nil }
    return
      "this rule matches many kinds of devices, and strangers' too: add an address, a name, or a service with a UUID of "
      + "its maker's own"
  }
}
