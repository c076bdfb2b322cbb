// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery

/// What a device must be to be the accessory that a profile means: all that is said here must be so, to the letter.
///
/// A rule that says nothing fits nothing: no profile takes over every device there is.
public struct DeviceRule: Sendable, Hashable {
  /// The driver that the device was announced with.
  public var driver: String?
  /// What its user calls it.
  public var name: String?
  /// Who makes it.
  public var manufacturer: String?
  /// Which product it is.
  public var model: String?
  /// Which one of these it is.
  public var serialNumber: String?

  /// A rule of these parts.
  public init(
    driver: String? = nil, name: String? = nil, manufacturer: String? = nil, model: String? = nil,
    serialNumber: String? = nil
  ) {
    self.driver = driver
    self.name = name
    self.manufacturer = manufacturer
    self.model = model
    self.serialNumber = serialNumber
  }

  /// Whether `device` is as this says.
  public func fits(_ device: Device) -> Bool {
    let wishes = [
      (driver, device.driver), (name, device.name), (manufacturer, device.manufacturer), (model, device.model),
      (serialNumber, device.serialNumber),
    ].filter { $0.0 != nil }
    return !wishes.isEmpty && wishes.allSatisfy { $0.0 == $0.1 }
  }
}
