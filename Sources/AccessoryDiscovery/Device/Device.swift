// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// An accessory that can be opened, and what is known of it without opening it.
///
/// All strings but the path may come from the accessory itself: show them escaped, and build nothing from them.
public struct Device: Sendable, Hashable {
  /// Who told of the device.
  public enum Source: String, Sendable, Hashable {
    /// A simulator that announced itself.
    case simulator
    /// The user named its path.
    case named
  }

  /// The device node to open, with links resolved.
  public var path: String
  /// A link that its owner keeps to the node.
  public var link: String?
  /// Who told of it.
  public var source: Source
  /// The driver that speaks its protocol; nil when that isn't known.
  public var driver: String?
  /// What its user calls it.
  public var name: String?
  /// Who makes it.
  public var manufacturer: String?
  /// Which product it is.
  public var model: String?
  /// Which one of these it is.
  public var serialNumber: String?
  /// Version of its software.
  public var firmwareRevision: String?
  /// Version of its hardware.
  public var hardwareRevision: String?

  /// A device at `path`.
  public init(
    path: String, link: String? = nil, source: Source, driver: String? = nil, name: String? = nil,
    manufacturer: String? = nil, model: String? = nil, serialNumber: String? = nil
  ) {
    self.path = path
    self.link = link
    self.source = source
    self.driver = driver
    self.name = name
    self.manufacturer = manufacturer
    self.model = model
    self.serialNumber = serialNumber
  }

  /// Stays the same when the accessory is unplugged and comes back: the serial number, or the path without one.
  public var id: String { if let serialNumber, !serialNumber.isEmpty { serialNumber } else { path } }
}

/// A device that came or went.
public enum DeviceEvent: Sendable, Hashable {
  /// It can be opened now.
  case added(Device)
  /// It is gone. The same value as when it was added.
  case removed(Device)
}

/// Where devices come from.
public protocol DeviceSource: Sendable {
  /// The devices that are there now. Throws when the source can't be asked.
  func devices() async throws(AccessoryError) -> [Device]
  /// The devices that are there now, as `added`, then what changes; until the task that reads it is cancelled.
  /// Every subscriber has a sequence of its own. Throws when the source can't be watched.
  func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent>
}
