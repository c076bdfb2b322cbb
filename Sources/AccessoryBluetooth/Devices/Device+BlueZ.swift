// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension Device {
  /// A device that BlueZ knows; nil when it has no address, or its adapter isn't on. It is opened by Bluetooth Low Energy,
  /// unless it is one of Bluetooth Classic without a known serial port of GATT.
  package init?(_ known: BluetoothDevice, in objects: BluetoothObjects) {
    guard let address = known.address, let adapter = objects.adapters[known.adapter], adapter.isPowered else {
      return nil
    }
    let hasGATT = known.services.contains(where: GATTSerialPort.isKnown)
    let isClassic = known.deviceClass != nil && !hasGATT
    self.init(
      isClassic ? .rfcomm(address, channel: nil) : .ble(address), source: .bluetooth,
      name: known.givenName ?? known.name)
    var identity = BluetoothIdentity(address, adapter: adapter.name)
    identity.toldName = known.name
    identity.services = known.services.sorted()
    identity.manufacturers = known.manufacturerData.keys.sorted()
    identity.manufacturerData = known.manufacturerData.mapValues { Array($0.prefix(16)) }
    identity.deviceClass = known.deviceClass
    identity.signalStrength = known.signalStrength
    (identity.isConnected, identity.isPaired) = (known.isConnected, known.isPaired)
    identity.isTrusted = known.isTrusted
    identity.hasPassingAddress = known.hasPassingAddress
    identity.hasSerialPort = hasGATT || known.services.contains(.serialPort)
    bluetooth = identity
  }

  /// Whether both values are equal except for the signal strength and the makers' data, which change with every packet.
  func saysSame(as other: Device) -> Bool {
    guard bluetooth?.isInReach == other.bluetooth?.isInReach else { return false }
    var same = self
    same.bluetooth?.signalStrength = other.bluetooth?.signalStrength
    same.bluetooth?.manufacturerData = other.bluetooth?.manufacturerData ?? [:]
    return same == other
  }
}

extension BluetoothDevice {
  /// The name that the user gave it; nil if BlueZ has derived the name from the address.
  fileprivate var givenName: String? {
    guard let alias, let address else { return nil }
    return BluetoothAddress(alias) == address ? nil : alias
  }
}
