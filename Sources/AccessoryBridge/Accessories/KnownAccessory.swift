// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery

/// An accessory that is present, with what is known of it without opening it.
public struct KnownAccessory: Sendable, Hashable {
  /// The device by which it is reached.
  public var device: Device
  /// The name of the driver that speaks its protocol; nil when none is known, and it can be opened as bytes only.
  public var driver: String?
  /// The socket of the service that holds it; nil when none does, and it is opened by this program itself.
  public var service: String?

  /// An accessory of these parts.
  public init(device: Device, driver: String? = nil, service: String? = nil) {
    self.device = device
    self.driver = driver
    self.service = service
  }
}

/// An accessory that came, went or changed.
public enum AccessoryChange: Sendable, Hashable {
  /// It is there.
  case appeared(KnownAccessory)
  /// Its names, its driver or the service that holds it have changed.
  case changed(KnownAccessory, from: KnownAccessory)
  /// It is gone.
  case disappeared(KnownAccessory)
}
