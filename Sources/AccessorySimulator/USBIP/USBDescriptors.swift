// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// An endpoint of a USB device (USB 2.0, 9.6.6).
struct SimulatedUSBEndpoint: Sendable, Hashable {
  /// The transfer type.
  enum Kind: UInt8, Sendable, Hashable {
    case bulk = 2
    case interrupt = 3
  }

  /// The endpoint's number, with bit 7 set for an IN endpoint.
  var address: UInt8
  var kind: Kind
  /// The size of the largest packet, in bytes.
  var maximumPacket: Int
  /// The polling interval: 2^(n-1) × 125 µs at high speed, n milliseconds at full speed.
  var interval: UInt8 = 0

  var descriptor: [UInt8] {
    [7, 5, address, kind.rawValue] + le16(UInt16(maximumPacket)) + [interval]
  }
}

/// An interface of a USB device, which one driver serves (USB 2.0, 9.6.5).
struct SimulatedUSBInterface: Sendable, Hashable {
  var number: UInt8
  /// Class, subclass and protocol.
  var code: USBClass
  var endpoints: [SimulatedUSBEndpoint]
  /// Class-specific descriptors, between those of the interface and its endpoints.
  var classDescriptors: [UInt8] = []

  var descriptors: [UInt8] {
    [9, 4, number, 0, UInt8(endpoints.count), code.code, code.subclass, code.protocol, 0]
      + classDescriptors + endpoints.flatMap(\.descriptor)
  }
}

/// Encodes the descriptors of USB devices.
enum USBDescriptor {
  /// The device descriptor (USB 2.0, 9.6.1). The strings have the indices 1, 2 and 3.
  static func device(_ code: USBClass, vendor: UInt16, product: UInt16, release: UInt16) -> [UInt8] {
    let head: [UInt8] = [18, 1] + le16(0x0200) + [code.code, code.subclass, code.protocol, 64]
    return head + [vendor, product, release].flatMap(le16) + [1, 2, 3, 1]
  }

  /// The device qualifier of a high-speed device (9.6.2). It has no configuration at full speed.
  static func qualifier(_ code: USBClass) -> [UInt8] {
    [10, 6] + le16(0x0200) + [code.code, code.subclass, code.protocol, 64, 0, 0]
  }

  /// The only configuration, with all interfaces (9.6.3): bus-powered, 100 mA.
  static func configuration(_ interfaces: [SimulatedUSBInterface]) -> [UInt8] {
    let body = interfaces.flatMap(\.descriptors)
    return [9, 2] + le16(UInt16(9 + body.count)) + [UInt8(interfaces.count), 1, 0, 0x80, 50] + body
  }

  /// The languages of the strings: English (United States).
  static let languages: [UInt8] = [4, 3, 0x09, 0x04]

  /// A string descriptor (9.6.7). The text is cut off after 126 units of UTF-16, but never inside a character.
  static func string(_ text: String) -> [UInt8] {
    var units: [UInt16] = []
    for character in text {
      let more = Array(character.utf16)
      if units.count + more.count > 126 { break }
      units += more
    }
    return [UInt8(2 + 2 * units.count), 3] + units.flatMap(le16)
  }

  /// A HID descriptor with one report descriptor of `length` bytes (HID 1.11, 6.2.1).
  static func hid(reportDescriptorLength length: Int) -> [UInt8] {
    [9, 0x21] + le16(0x0111) + [0, 1, 0x22] + le16(UInt16(length))
  }

  /// A HID report descriptor: the vendor's usage page, one input and one output report of `count` bytes, without report ids.
  static func hidReports(of count: Int) -> [UInt8] {
    let count = le16(UInt16(count))
    return [0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x96] + count
      + [0x09, 0x01, 0x81, 0x02, 0x96] + count + [0x09, 0x01, 0x91, 0x02, 0xC0]
  }

  /// The functional descriptors of a modem with control interface 0 and data interface 1 (CDC PSTN 1.2, 5.3): header,
  /// call management, abstract control (line coding and state, break), union.
  static let modem: [UInt8] = [
    5, 0x24, 0x00, 0x10, 0x01, 5, 0x24, 0x01, 0x00, 0x01, 4, 0x24, 0x02, 0x06, 5, 0x24, 0x06, 0x00, 0x01,
  ]
}

func le16(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }
