// SPDX-License-Identifier: Apache-2.0

/// How an accessory identifies itself. The strings come from the accessory: escape them before showing them.
public struct AccessoryIdentity: Sendable, Hashable {
  /// The manufacturer's name.
  public var manufacturer: String
  /// The name that its user gave it.
  public var name: String
  /// The name of the product.
  public var model: String
  /// The serial number.
  public var serialNumber: String
  /// Version of its software.
  public var firmwareRevision: String
  /// Version of its hardware.
  public var hardwareRevision: String

  /// An identity of these parts; empty where it isn't known.
  public init(
    manufacturer: String = "", name: String = "", model: String = "", serialNumber: String = "",
    firmwareRevision: String = "", hardwareRevision: String = ""
  ) {
    self.manufacturer = manufacturer
    self.name = name
    self.model = model
    self.serialNumber = serialNumber
    self.firmwareRevision = firmwareRevision
    self.hardwareRevision = hardwareRevision
  }
}
