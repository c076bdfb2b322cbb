// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery

/// A simulated accessory on a serial line. It is a value that handles received bytes and scheduled actions.
public protocol SerialDevice: Sendable {
  /// An event for the owner of the simulator.
  associatedtype News: Sendable, Hashable
  /// An action that the device schedules, or that the simulator's owner triggers.
  associatedtype ScheduledAction: Sendable, Hashable

  /// The name of the device's driver.
  static var driver: String { get }
  /// Received bytes are handled together after a pause of this length; nil means that they are handled as they arrive.
  var pause: Duration? { get }
  /// The announcement for other programs, without the path.
  var announcement: Announcement { get }

  /// Called when the device was plugged in.
  mutating func start() -> [SerialEffect<Self>]
  /// Handles received bytes.
  mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>]
  /// Carries out an action.
  mutating func perform(_ action: ScheduledAction) -> [SerialEffect<Self>]
}

/// An effect of a simulated accessory.
public enum SerialEffect<Device: SerialDevice>: Sendable {
  /// Sends these bytes.
  case send([UInt8])
  /// Schedules an action. It is dropped when the device is unplugged, and when `cancelAll` cancels all actions.
  case after(Duration, Device.ScheduledAction)
  /// Cancels all scheduled actions.
  case cancelAll
  /// Reports an event to the owner of the simulator.
  case report(Device.News)
}
