// SPDX-License-Identifier: Apache-2.0

/// Who an accessory says it is. The strings are the accessory's own: show them escaped.
public struct AccessoryIdentity: Sendable, Hashable {
  /// Who makes it.
  public var manufacturer: String
  /// What its user calls it.
  public var name: String
  /// Which product it is.
  public var model: String
  /// Which one of these it is.
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
