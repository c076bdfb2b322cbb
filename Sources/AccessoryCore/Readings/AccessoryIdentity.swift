// SPDX-License-Identifier: Apache-2.0

/// How an accessory identifies itself. The strings come from the accessory: escape them before showing them.
public struct AccessoryIdentity: Sendable, Hashable {
  /// The manufacturer's name.
  public var manufacturer: String
  /// The name that the user gave the accessory.
  public var name: String
  /// The name of the product.
  public var model: String
  /// The serial number.
  public var serialNumber: String
  /// The version of the accessory's software.
  public var firmwareRevision: String
  /// The version of the accessory's hardware.
  public var hardwareRevision: String

  /// An identity of these parts; a part that isn't known is empty.
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

  package var texts: [String] { [manufacturer, name, model, serialNumber, firmwareRevision, hardwareRevision] }
}
