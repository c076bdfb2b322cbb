// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDrivers

/// A device of Bluetooth Classic that the picker has found. Only on Linux.
///
/// The name comes from the device, which may be a stranger's: escape it before you show it.
public struct EABluetoothNeighbour: Sendable, Hashable {
  /// The device's name; empty if it advertises none.
  public let name: String
  /// The device's address: `AA:BB:CC:DD:EE:FF`.
  public let address: String
  /// The strength of its signal in dBm: the nearer, the closer to 0. Nil where that isn't known.
  public let signalStrength: Int?
  /// Whether it is paired with this computer.
  public let isPaired: Bool
  /// The protocols for which it can be opened once it is picked.
  public let protocolStrings: [String]

  init(_ device: Device, _ profile: Profile) {
    (name, address) = (device.name ?? "", device.bluetooth?.address.description ?? device.address.description)
    (signalStrength, isPaired) = (device.bluetooth?.signalStrength, device.bluetooth?.isPaired ?? false)
    protocolStrings = profile.protocolStrings
  }
}

/// Lets the user choose one of the devices that the picker has found; the nearest comes first. Nil means that the user
/// has cancelled. It may be called on any thread, must not block it, and is cancelled when the picker ends. Only on
/// Linux.
public typealias EABluetoothAccessoryChooser =
  @Sendable (_ neighbours: [EABluetoothNeighbour]) async -> EABluetoothNeighbour?
