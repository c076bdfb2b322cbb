// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A service of ours that other devices find when they have connected this computer.
package struct ServedService: Sendable, Equatable {
  /// The number by which it is named in commands and events; no other service of the session has it.
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

/// A characteristic of ours.
package struct ServedCharacteristic: Sendable, Equatable {
  package var uuid: BluetoothUUID
  /// The number by which it is named in commands and events; no other characteristic of the session has it.
  package var handle: Int
  /// The bits of the GATT declaration, as in `RadioCharacteristic`.
  package var properties: UInt8
  /// What only paired devices may do.
  package var encryption: ServedEncryption
  /// A value that never changes; nil means that each read is an event.
  package var value: [UInt8]?
  package var descriptors: [ServedDescriptor]

  package init(
    _ uuid: BluetoothUUID, handle: Int, properties: UInt8, encryption: ServedEncryption = [], value: [UInt8]? = nil,
    _ descriptors: [ServedDescriptor] = []
  ) {
    (self.uuid, self.handle, self.properties, self.encryption) = (uuid, handle, properties, encryption)
    (self.value, self.descriptors) = (value, descriptors)
  }

  /// Its properties in the words of BlueZ.
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
    // BlueZ has this for writes that aren't confirmed, too.
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

/// A descriptor of ours, whose value never changes.
package struct ServedDescriptor: Sendable, Equatable {
  package var uuid: BluetoothUUID
  package var value: [UInt8]
  package init(_ uuid: BluetoothUUID, _ value: [UInt8]) { (self.uuid, self.value) = (uuid, value) }
}

/// What this computer tells all devices in reach.
package struct ServedOffer: Sendable, Equatable {
  /// The name; nil means the computer's.
  package var name: String?
  package var services: [BluetoothUUID]
  package init(_ name: String?, _ services: [BluetoothUUID]) { (self.name, self.services) = (name, services) }
}
