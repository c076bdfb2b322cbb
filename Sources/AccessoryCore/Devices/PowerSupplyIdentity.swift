// SPDX-License-Identifier: Apache-2.0

/// What the kernel says a power supply is (Documentation/ABI/testing/sysfs-class-power of the kernel).
public struct PowerSupplyIdentity: Sendable, Hashable {
  /// Its type: Battery, Mains, UPS, USB, Wireless, or what newer kernels add.
  public var kind: String
  /// Whether it supplies one device, such as a mouse, and not the machine.
  public var isOfDevice: Bool

  /// An identity of these parts.
  public init(kind: String, isOfDevice: Bool) { (self.kind, self.isOfDevice) = (kind, isOfDevice) }

  /// Whether it has a battery, as chargers don't.
  public var hasBattery: Bool { kind == "Battery" || kind == "UPS" }

  /// The name of the driver that reads power supplies.
  public static let driverName = "power-supply"
}
