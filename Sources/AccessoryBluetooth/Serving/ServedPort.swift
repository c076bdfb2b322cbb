// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An offered serial port: its service, the characteristic to write, and the one that notifies. Both may be the same.
package struct ServedPort: Sendable, Hashable {
  let service: BluetoothUUID
  let write: BluetoothUUID
  let notify: BluetoothUUID

  /// The handles of the characteristics.
  private static let handles = (write: 1, notify: 2)

  /// The handle of the characteristic that notifies.
  var notifying: Int { write == notify ? Self.handles.write : Self.handles.notify }

  /// The service to publish; with `isPaired`, for paired devices only.
  func served(isPaired: Bool) -> ServedService {
    let encryption: ServedEncryption = isPaired ? [.read, .write, .notify] : []
    // Both kinds of writes. One characteristic for both directions also allows reads, because apps for these modules read it.
    let writes: UInt8 = 0x0C
    guard write != notify else {
      return ServedService(
        service, number: 1,
        [ServedCharacteristic(write, handle: Self.handles.write, properties: writes | 0x12, encryption: encryption)])
    }
    return ServedService(
      service, number: 1,
      [
        ServedCharacteristic(write, handle: Self.handles.write, properties: writes, encryption: encryption),
        ServedCharacteristic(notify, handle: Self.handles.notify, properties: 0x10, encryption: encryption),
      ])
  }
}
