// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// Reads what profiles and descriptions say of Bluetooth.
extension ValueReader {
  /// Reads the UUID that a key names.
  package mutating func bluetoothUUID(_ fields: KeyedNodes, _ name: String) -> BluetoothUUID? {
    fields[name].flatMap { bluetoothUUID($0, name) }
  }

  /// Reads the UUID of a service or a characteristic.
  package mutating func bluetoothUUID(_ node: YAMLNode, _ what: String) -> BluetoothUUID? {
    if case .scalar(let text) = node.content, let uuid = BluetoothUUID(text) { return uuid }
    report(
      node.mark,
      "\(what) must be a UUID of 4 hexadecimal digits, or of 32 with hyphens, like ffe0 or "
        + "6e400001-b5a3-f393-e0a9-e50e24dcca9e, not \(kind(node))")
    return nil
  }
}
