// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A serial port that is offered over Bluetooth Low Energy, in one of the forms that apps for phones know.
public enum GATTUART: String, Sendable, Hashable, CaseIterable {
  /// That of an HM-10: the service FFE0, whose FFE1 is written and notifies.
  case hm10
  /// Nordic's UART service: 6E400002 is written, and 6E400003 notifies.
  case nus
  /// That of a Bluno: the service DFB0, whose DFB1 is written and notifies.
  case bluno

  /// The service that is advertised.
  public var service: BluetoothUUID { shape.service }

  /// The characteristics. In two of the forms they are one.
  private var shape: (service: BluetoothUUID, write: BluetoothUUID, notify: BluetoothUUID) {
    switch self {
    case .hm10: (BluetoothUUID(short: 0xFFE0), BluetoothUUID(short: 0xFFE1), BluetoothUUID(short: 0xFFE1))
    case .bluno: (BluetoothUUID(short: 0xDFB0), BluetoothUUID(short: 0xDFB1), BluetoothUUID(short: 0xDFB1))
    case .nus: (Self.nordic("0001"), Self.nordic("0002"), Self.nordic("0003"))
    }
  }

  private static func nordic(_ number: String) -> BluetoothUUID {
    BluetoothUUID("6e40\(number)-b5a3-f393-e0a9-e50e24dcca9e") ?? BluetoothUUID(short: 0)
  }

  /// The handles of the characteristics.
  static let handles = (write: 1, notify: 2)

  /// Which handle sends.
  var notifying: Int { self == .nus ? Self.handles.notify : Self.handles.write }

  /// The service, for paired devices only where that is wanted.
  func served(isPaired: Bool) -> ServedService {
    let shape = shape
    let encryption: ServedEncryption = isPaired ? [.read, .write, .notify] : []
    // Both kinds of writes, and in the form of one characteristic reads, which apps of these modules make.
    let writes: UInt8 = 0x0C
    guard shape.write != shape.notify else {
      return ServedService(
        shape.service, number: 1,
        [
          ServedCharacteristic(
            shape.write, handle: Self.handles.write, properties: writes | 0x12, encryption: encryption)
        ])
    }
    return ServedService(
      shape.service, number: 1,
      [
        ServedCharacteristic(shape.write, handle: Self.handles.write, properties: writes, encryption: encryption),
        ServedCharacteristic(shape.notify, handle: Self.handles.notify, properties: 0x10, encryption: encryption),
      ])
  }
}
