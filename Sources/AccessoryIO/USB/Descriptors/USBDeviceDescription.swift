// SPDX-License-Identifier: Apache-2.0

/// The descriptors of a USB device (USB 2.0, chapter 9).
public struct USBDeviceDescription: Sendable, Hashable {
  /// The vendor's number (idVendor).
  public var vendorID: UInt16
  /// The vendor's number of the product (idProduct).
  public var productID: UInt16
  /// The release of the device, in binary-coded decimal: 0x0102 is 1.02 (bcdDevice).
  public var release: UInt16
  /// The release of USB it follows, in binary-coded decimal (bcdUSB).
  public var usbRelease: UInt16
  /// What kind of device it is; class 0 leaves that to its interfaces.
  public var function: USBClass
  /// Its configurations, in the order they came in.
  public var configurations: [USBConfigurationDescription]
  /// The invalid parts that were left out, for people; nil when there were none.
  public var damage: String?

  /// The configuration of this value (bConfigurationValue).
  public func configuration(_ value: UInt8) -> USBConfigurationDescription? {
    configurations.first { $0.value == value }
  }
}

/// One of the ways a device can be set up.
public struct USBConfigurationDescription: Sendable, Hashable {
  /// What selects it (bConfigurationValue).
  public var value: UInt8
  /// It has its own power supply.
  public var isSelfPowered: Bool
  /// The most current it draws from the bus, in the descriptor's steps of 2 mA (USB 2) or 8 mA (USB 3).
  public var maxPowerSteps: UInt8
  /// Every alternate setting of every interface.
  public var interfaces: [USBInterfaceDescription]
}

/// One alternate setting of one interface.
public struct USBInterfaceDescription: Sendable, Hashable {
  /// The interface's number (bInterfaceNumber).
  public var number: UInt8
  /// Which of its settings this is (bAlternateSetting); 0 is in force at first.
  public var alternateSetting: UInt8
  /// What it is for.
  public var function: USBClass
  /// Its endpoints; endpoint 0 is not among them.
  public var endpoints: [USBEndpointDescription]

  /// A setting of these parts.
  package init(number: UInt8, alternateSetting: UInt8, function: USBClass, endpoints: [USBEndpointDescription]) {
    self.number = number
    self.alternateSetting = alternateSetting
    self.function = function
    self.endpoints = endpoints
  }

  /// The first endpoint in this direction that carries bytes as they come.
  public func endpoint(_ direction: USBEndpointDescription.Direction) -> USBEndpointDescription? {
    endpoints.first {
      $0.direction == direction && ($0.transfer == .bulk || $0.transfer == .interrupt) && $0.maxPacketSize > 0
    }
  }

  /// True when it has an IN and an OUT endpoint that carry bytes as they come.
  public var hasPair: Bool { endpoint(.in) != nil && endpoint(.out) != nil }
}

/// One endpoint.
public struct USBEndpointDescription: Sendable, Hashable {
  /// Which way it carries.
  public enum Direction: String, Sendable, Hashable {
    /// To the host.
    case `in`
    /// To the device.
    case out
  }

  /// How it carries.
  public enum Transfer: String, Sendable, Hashable {
    /// Setup requests.
    case control
    /// At a steady rate, unchecked.
    case isochronous
    /// As the bus has time.
    case bulk
    /// Small reports, asked for at an interval.
    case interrupt
  }

  /// Number and direction as one byte (bEndpointAddress).
  public var address: UInt8
  /// How it carries.
  public var transfer: Transfer
  /// Bytes of the largest packet (wMaxPacketSize, bits 0 to 10).
  public var maxPacketSize: Int
  /// Packets that an interrupt or isochronous endpoint may carry within 125 µs at high speed: 1 to 3.
  public var packetsPerInterval: Int
  /// How often it is asked (bInterval), in units that depend on speed and kind.
  public var interval: UInt8

  /// An endpoint of these parts.
  package init(address: UInt8, transfer: Transfer, maxPacketSize: Int, packetsPerInterval: Int, interval: UInt8) {
    self.address = address
    self.transfer = transfer
    self.maxPacketSize = maxPacketSize
    self.packetsPerInterval = packetsPerInterval
    self.interval = interval
  }

  /// Which way it carries.
  public var direction: Direction { address & 0x80 != 0 ? .in : .out }
  /// Its number, 1 to 15.
  public var number: UInt8 { address & 0x0F }
}

/// What something on USB is for: class, subclass and protocol, as USB-IF numbers them.
public struct USBClass: Sendable, Hashable {
  /// The class.
  public var code: UInt8
  /// The class's own division.
  public var subclass: UInt8
  /// What it speaks.
  public var `protocol`: UInt8

  /// A class of these numbers.
  public init(code: UInt8, subclass: UInt8 = 0, protocol: UInt8 = 0) {
    self.code = code
    self.subclass = subclass
    self.protocol = `protocol`
  }

  /// Human interface devices.
  public static let humanInterface: UInt8 = 0x03
  /// Hubs.
  public static let hub: UInt8 = 0x09
  /// What no class of USB-IF covers.
  public static let vendorSpecific: UInt8 = 0xFF

  /// The class in a word or two; nil for one that has no common name.
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
