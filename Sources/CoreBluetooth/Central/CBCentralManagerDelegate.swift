// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Receives what a `CBCentralManager` finds and does. All calls are made on the manager's queue, one at a time, in
/// order. All methods but the first have a default that does nothing; without Objective-C they aren't called as
/// `method?(…)`.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
  /// Whether Bluetooth can be used. Called once soon after the manager was made, and at each change.
  func centralManagerDidUpdateState(_ central: CBCentralManager)

  /// Never called on Linux: nothing is restored.
  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

  /// A device was found. Keep `peripheral`: the manager doesn't. `RSSI` is the strength of the signal in dBm.
  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber)

  /// A device is connected.
  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

  /// A device can't be connected.
  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

  /// A connection has ended. The error is nil when this program has ended it.
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?)

  /// Called in place of the method without a time, if the delegate implements this one. The time is in seconds since
  /// 2001.
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: (any Error)?)

  /// Never called on Linux.
  func centralManager(
    _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral)

  /// Never called on Linux.
  func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

extension CBCentralManagerDelegate {
  fileprivate func missed(_ method: StaticString = #function) {
    InheritedDelegate.calledDefault(of: method, self) { $0 is any CBCentralManagerDelegate.Type }
  }

  /// Does nothing.
  public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}

  /// Does nothing.
  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) { missed() }

  /// Does nothing.
  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { missed() }

  /// Does nothing.
  public func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) { missed() }

  /// Does nothing.
  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) { missed() }

  /// Calls the method without a time.
  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: (any Error)?
  ) {
    centralManager(central, didDisconnectPeripheral: peripheral, error: error)
  }

  /// Does nothing.
  public func centralManager(
    _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
  ) {}

  /// Does nothing.
  public func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}
}

/// Events of other programs' connections. None are reported on Linux.
public enum CBConnectionEvent: Int, Sendable {
  /// It was disconnected.
  case peerDisconnected = 0
  /// It was connected.
  case peerConnected = 1
}

/// The events for `registerForConnectionEvents`. No effect on Linux.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
  /// The name of the option.
  public let rawValue: String
  /// The option with this name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Devices with these services.
  public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
  /// Devices with these identifiers.
  public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
