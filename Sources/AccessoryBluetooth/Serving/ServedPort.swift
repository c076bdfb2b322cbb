// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A serial port that is offered: its service, the characteristic that is written, and the one that sends. Both may be the same.
package struct ServedPort: Sendable, Hashable {
  let service: BluetoothUUID
  let write: BluetoothUUID
  let notify: BluetoothUUID

  /// The handles of the characteristics.
  private static let handles = (write: 1, notify: 2)

  /// Which handle sends.
  var notifying: Int { write == notify ? Self.handles.write : Self.handles.notify }

  /// The service, for paired devices only where that is wanted.
  func served(isPaired: Bool) -> ServedService {
    let encryption: ServedEncryption = isPaired ? [.read, .write, .notify] : []
    // Both kinds of writes, and in the form of one characteristic reads, which apps of these modules make.
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
