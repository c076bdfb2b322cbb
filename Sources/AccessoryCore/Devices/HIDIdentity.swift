// SPDX-License-Identifier: Apache-2.0

/// What the kernel knows of a human interface device (HID).
public struct HIDIdentity: Sendable, Hashable {
  /// The path of its hidraw node.
  public var node: String
  /// What its outermost collections are, by page and number in the usage tables: 0x0084_0004 is a UPS.
  public var applications: [UInt32]
  /// Whether its reports have the form of those that carry text. That says nothing of what it is: many devices have such reports.
  public var mayCarryText: Bool

  /// An identity of these parts.
  public init(node: String, applications: [UInt32], mayCarryText: Bool = false) {
    (self.node, self.applications, self.mayCarryText) = (node, applications, mayCarryText)
  }

  /// Whether it is a power device with a battery: a UPS, or a power supply (Usage Tables for HID Power Devices 1.1, 4.1).
  package var isPowerDevice: Bool { !Self.powerDevices.isDisjoint(with: applications) }

  private static let powerDevices: Set<UInt32> = [0x0084_0004, 0x0084_0005]
}
