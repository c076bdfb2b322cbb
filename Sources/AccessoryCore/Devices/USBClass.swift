// SPDX-License-Identifier: Apache-2.0

/// The class, subclass and protocol of a device or an interface, as USB-IF assigns them.
public struct USBClass: Sendable, Hashable {
  /// The class code.
  public var code: UInt8
  /// The subclass code, whose meaning depends on the class.
  public var subclass: UInt8
  /// The protocol code, whose meaning depends on class and subclass.
  public var `protocol`: UInt8

  /// A class with these codes.
  public init(code: UInt8, subclass: UInt8 = 0, protocol: UInt8 = 0) {
    self.code = code
    self.subclass = subclass
    self.protocol = `protocol`
  }

  /// The code of communication devices (CDC).
  public static let communications: UInt8 = 0x02
  /// The code of human interface devices (HID).
  public static let humanInterface: UInt8 = 0x03
  /// The code of hubs.
  public static let hub: UInt8 = 0x09
  /// The code of vendor-specific functions.
  public static let vendorSpecific: UInt8 = 0xFF

  /// The name of the class in a few words; nil when it has no common name.
  public var name: String? {
    switch code {
    case 0x00: "per interface"
    case 0x01: "audio"
    case 0x02: "communications"
    case 0x03: "HID"
    case 0x05: "physical"
    case 0x06: "image"
    case 0x07: "printer"
    case 0x08: "mass storage"
    case 0x09: "hub"
    case 0x0A: "CDC data"
    case 0x0B: "smart card"
    case 0x0D: "content security"
    case 0x0E: "video"
    case 0x0F: "personal healthcare"
    case 0x10: "audio/video"
    case 0xDC: "diagnostic"
    case 0xE0: "wireless"
    case 0xEF: "miscellaneous"
    case 0xFE: "application-specific"
    case 0xFF: "vendor-specific"
    default: nil
    }
  }
}
