// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery

/// An accessory that is present, with what is known about it without opening it.
public struct KnownAccessory: Sendable, Hashable {
  /// The device through which the accessory is opened.
  public var device: Device
  /// The name of the driver for its protocol; nil when none is known, and it can only be opened as byte streams.
  public var driver: String?
  /// The socket of the service that has it open; nil when none has, and this program opens it itself.
  public var service: String?

  /// An accessory with these parts.
  public init(device: Device, driver: String? = nil, service: String? = nil) {
    self.device = device
    self.driver = driver
    self.service = service
  }
}

/// A change of the accessories that are present.
public enum AccessoryChange: Sendable, Hashable {
  /// The accessory is present now.
  case appeared(KnownAccessory)
  /// Its names, its driver or the service that has it open have changed.
  case changed(KnownAccessory, from: KnownAccessory)
  /// The accessory isn't present any more.
  case disappeared(KnownAccessory)
}
