// SPDX-License-Identifier: Apache-2.0

/// What to know of one kind of accessory: which devices are of that kind, how to open them, and what they speak.
public struct Profile: Sendable, Hashable {
  /// What the profile is called. One profile of a name counts.
  public var name: String
  /// A device is of this kind when one of these fits it.
  public var rules: [DeviceRule]
  /// The driver that speaks its protocol; nil when there is none, and clients bring their own.
  public var driver: String?
  /// What clients of the ExternalAccessory interface ask for, in reverse-DNS form. They choose accessories by these
  /// alone; a profile without any shows none.
  public var protocolStrings: [String]
  /// Bits a second, where the device is a serial line.
  public var baudRate: UInt32 = 115_200
  /// Time after opening until the first byte is sent or taken.
  public var settle = Duration.zero

  /// A profile for serial lines of 115,200 baud that need no time to settle.
  public init(name: String, rules: [DeviceRule], driver: String? = nil, protocolStrings: [String] = []) {
    self.name = name
    self.rules = rules
    self.driver = driver
    self.protocolStrings = protocolStrings
  }

  /// The framed accessory, as simulators announce it.
  public static let framed = Profile(
    name: FramedAccessory.driverName, rules: [DeviceRule(driver: FramedAccessory.driverName)],
    driver: FramedAccessory.driverName, protocolStrings: ["com.accessorybridge.framed"])
}
