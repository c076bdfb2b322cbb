// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

/// Whether a device is connected.
public enum BLESerialStatus: Sendable, Equatable {
  /// It isn't connected, and the manager doesn't try.
  case disconnected
  /// It is being connected, for the first time or after a failure.
  case connecting
  /// It is connected.
  case connected
  /// It was connected, and is being connected again.
  case reconnecting
}

/// The delegate of a `BLESerialManager`. All methods are optional, and are called on the manager's queue, one at a time, in order.
public protocol BLESerialDelegate: AnyObject {
  /// The state of Bluetooth has changed.
  func serialManager(_ manager: BLESerialManager, didChangeState state: CBManagerState)
  /// The time limit of a search has passed.
  func serialManagerSearchTimerExpired(_ manager: BLESerialManager)
  /// The status of a device has changed.
  func serialManager(_ manager: BLESerialManager, deviceStatusChanged device: UUID, to status: BLESerialStatus)
  /// A device is connected. Its services aren't known yet.
  func serialManager(_ manager: BLESerialManager, connectedToDevice device: UUID)
  /// The services, characteristics and descriptors of a device are known, and notifications of its serial port, if it has one, are
  /// on.
  func serialManager(_ manager: BLESerialManager, deviceIsReady device: UUID)
  /// A device's serial port has sent bytes.
  func serialManager(_ manager: BLESerialManager, didReceive data: Data, from device: UUID)
}

extension BLESerialDelegate {
  /// Does nothing.
  public func serialManager(_ manager: BLESerialManager, didChangeState state: CBManagerState) {}
  /// Does nothing.
  public func serialManagerSearchTimerExpired(_ manager: BLESerialManager) {}
  /// Does nothing.
  public func serialManager(
    _ manager: BLESerialManager, deviceStatusChanged device: UUID, to status: BLESerialStatus
  ) {}
  /// Does nothing.
  public func serialManager(_ manager: BLESerialManager, connectedToDevice device: UUID) {}
  /// Does nothing.
  public func serialManager(_ manager: BLESerialManager, deviceIsReady device: UUID) {}
  /// Does nothing.
  public func serialManager(_ manager: BLESerialManager, didReceive data: Data, from device: UUID) {}
}
