// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A service of a connected device with its characteristics.
package struct RadioService: Sendable, Equatable {
  /// Its handle in the device's table of attributes.
  package var handle: Int
  package var uuid: BluetoothUUID
  package var isPrimary: Bool
  /// The handles of its included services.
  package var included: [Int]
  /// The characteristics, in the order of their handles.
  package var characteristics: [RadioCharacteristic]

  package init(
    _ uuid: BluetoothUUID, handle: Int, isPrimary: Bool = true, included: [Int] = [],
    _ characteristics: [RadioCharacteristic] = []
  ) {
    (self.uuid, self.handle, self.isPrimary, self.included) = (uuid, handle, isPrimary, included)
    self.characteristics = characteristics
  }
}

/// A characteristic with its descriptors.
package struct RadioCharacteristic: Sendable, Equatable {
  package var handle: Int
  package var uuid: BluetoothUUID
  /// The bits of the GATT declaration: broadcast 1, read 2, write without response 4, write 8, notify 0x10, indicate 0x20,
  /// signed writes 0x40, extended 0x80.
  package var properties: UInt8
  /// The descriptors, in the order of their handles.
  package var descriptors: [RadioDescriptor]

  package init(_ uuid: BluetoothUUID, handle: Int, properties: UInt8, _ descriptors: [RadioDescriptor] = []) {
    (self.uuid, self.handle, self.properties, self.descriptors) = (uuid, handle, properties, descriptors)
  }

  /// Whether the device sends its value.
  package var notifies: Bool { properties & 0x30 != 0 }
}

/// A descriptor.
package struct RadioDescriptor: Sendable, Equatable {
  package var handle: Int
  package var uuid: BluetoothUUID

  package init(_ uuid: BluetoothUUID, handle: Int) { (self.uuid, self.handle) = (uuid, handle) }
}
