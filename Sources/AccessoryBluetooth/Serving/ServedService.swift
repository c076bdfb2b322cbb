// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// One of our services, which other devices find after they have connected to this computer.
package struct ServedService: Sendable, Equatable {
  /// Its number in commands and events, unique within the session.
  package var number: Int
  package var uuid: BluetoothUUID
  package var isPrimary: Bool
  package var characteristics: [ServedCharacteristic]

  /// The most characteristics of a service, and the most descriptors of a characteristic.
  static let limits = (characteristics: 64, descriptors: 8)

  package init(
    _ uuid: BluetoothUUID, number: Int, isPrimary: Bool = true, _ characteristics: [ServedCharacteristic]
  ) {
    (self.uuid, self.number, self.isPrimary, self.characteristics) = (uuid, number, isPrimary, characteristics)
  }
}

/// One of our characteristics.
package struct ServedCharacteristic: Sendable, Equatable {
  package var uuid: BluetoothUUID
  /// Its number in commands and events, unique within the session.
  package var handle: Int
  /// The bits of the GATT declaration, as in `RadioCharacteristic`.
  package var properties: UInt8
  /// What only paired devices may do.
  package var encryption: ServedEncryption
  /// A value that never changes; nil if each read is an event.
  package var value: [UInt8]?
  package var descriptors: [ServedDescriptor]

  package init(
    _ uuid: BluetoothUUID, handle: Int, properties: UInt8, encryption: ServedEncryption = [], value: [UInt8]? = nil,
    _ descriptors: [ServedDescriptor] = []
  ) {
    (self.uuid, self.handle, self.properties, self.encryption) = (uuid, handle, properties, encryption)
    (self.value, self.descriptors) = (value, descriptors)
  }

  /// Its properties in BlueZ's words.
  var flags: [String] {
    var flags: [String] = []
    func add(_ bit: UInt8, _ flag: String, _ secured: ServedEncryption = []) {
      guard properties & bit != 0 else { return }
      flags.append(encryption.isDisjoint(with: secured) ? flag : "encrypt-" + flag)
    }
    add(0x01, "broadcast")
    add(0x02, "read", .read)
    add(0x04, "write-without-response")
    add(0x08, "write", .write)
    add(0x10, "notify", .notify)
    add(0x20, "indicate", .notify)
    add(0x40, "authenticated-signed-writes")
    // In BlueZ this flag also covers writes without a response.
    if properties & 0x0C == 0x04, encryption.contains(.write) { flags.append("encrypt-write") }
    return flags
  }
}

/// What only paired devices may do with a characteristic.
package struct ServedEncryption: OptionSet, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  package static let read = Self(rawValue: 1)
  package static let write = Self(rawValue: 2)
  package static let notify = Self(rawValue: 4)
}

/// One of our descriptors. Its value never changes.
package struct ServedDescriptor: Sendable, Equatable {
  package var uuid: BluetoothUUID
  package var value: [UInt8]
  package init(_ uuid: BluetoothUUID, _ value: [UInt8]) { (self.uuid, self.value) = (uuid, value) }
}

/// The advertisement of this computer.
package struct ServedOffer: Sendable, Equatable {
  /// The advertised name; nil means the computer's.
  package var name: String?
  package var services: [BluetoothUUID]
  package init(_ name: String?, _ services: [BluetoothUUID]) { (self.name, self.services) = (name, services) }
}
