// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A serial port that is offered over Bluetooth Low Energy, in one of the forms that apps for phones support.
public enum GATTUART: String, Sendable, Hashable, CaseIterable {
  /// As an HM-10: the service FFE0, whose FFE1 is written and notifies.
  case hm10
  /// Nordic's UART service: 6E400002 is written, and 6E400003 notifies.
  case nus
  /// As a Bluno: the service DFB0, whose DFB1 is written and notifies.
  case bluno

  /// The service and its characteristics. In two of the forms one characteristic serves both directions.
  var port: ServedPort {
    switch self {
    case .hm10: Self.port(BluetoothUUID(short: 0xFFE0), BluetoothUUID(short: 0xFFE1))
    case .bluno: Self.port(BluetoothUUID(short: 0xDFB0), BluetoothUUID(short: 0xDFB1))
    case .nus: ServedPort(service: Self.nordic("0001"), write: Self.nordic("0002"), notify: Self.nordic("0003"))
    }
  }

  /// The service that is advertised.
  public var service: BluetoothUUID { port.service }

  private static func port(_ service: BluetoothUUID, _ characteristic: BluetoothUUID) -> ServedPort {
    ServedPort(service: service, write: characteristic, notify: characteristic)
  }

  private static func nordic(_ number: String) -> BluetoothUUID {
    BluetoothUUID("6e40\(number)-b5a3-f393-e0a9-e50e24dcca9e") ?? BluetoothUUID(short: 0)
  }
}
