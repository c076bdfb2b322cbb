// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

/// Whether a device is connected.
public enum BLESerialStatus: Sendable, Equatable {
  /// It isn't, and nobody tries any more.
  case disconnected
  /// It is being connected, for the first time or after a failure.
  case connecting
  /// It is.
  case connected
  /// It was, and is being connected again.
  case reconnecting
}

/// What uses a `BLESerialManager`. All calls are made on its queue, one at a time, in order. All may be left out.
public protocol BLESerialDelegate: AnyObject {
  /// Bluetooth was switched on or off, or has come or gone.
  func serialManager(_ manager: BLESerialManager, didChangeState state: CBManagerState)
  /// The time of a search is over.
  func serialManagerSearchTimerExpired(_ manager: BLESerialManager)
  /// A device is connected, is no longer, or is being connected.
  func serialManager(_ manager: BLESerialManager, deviceStatusChanged device: UUID, to status: BLESerialStatus)
  /// A device is connected. What it can do isn't known yet.
  func serialManager(_ manager: BLESerialManager, connectedToDevice device: UUID)
  /// Services, characteristics and descriptors of a device are known, and its serial port, where it has one, sends.
  func serialManager(_ manager: BLESerialManager, deviceIsReady device: UUID)
  /// Bytes have come from the serial port of a device.
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
