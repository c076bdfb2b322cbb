// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery

/// A pretended accessory on a serial line, as a value: what it does with the bytes that arrive, and in time.
public protocol SerialDevice: Sendable {
  /// What it tells of itself to who runs it.
  associatedtype News: Sendable, Hashable
  /// What it does later, or on demand.
  associatedtype Moment: Sendable, Hashable

  /// The name of the driver that speaks with it.
  static var driver: String { get }
  /// After this pause what has arrived is one piece; nil takes bytes as they come.
  var pause: Duration? { get }
  /// By what it is known: its announcement, but for its path.
  var announcement: Announcement { get }

  /// It was plugged in, or switched on.
  mutating func start() -> [SerialEffect<Self>]
  /// Bytes arrived.
  mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>]
  /// The moment has come.
  mutating func happen(_ moment: Moment) -> [SerialEffect<Self>]
}

/// What a pretended accessory does.
public enum SerialEffect<Device: SerialDevice>: Sendable {
  /// It sends these bytes.
  case send([UInt8])
  /// It goes on so much later, unless it is unplugged or starts anew by then.
  case after(Duration, Device.Moment)
  /// Forgets all that it would do later.
  case forget
  /// Something happened that may be shown.
  case tell(Device.News)
}
