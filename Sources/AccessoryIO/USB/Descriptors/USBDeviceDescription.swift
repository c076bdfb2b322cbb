// SPDX-License-Identifier: Apache-2.0

/// The descriptors of a USB device (USB 2.0, chapter 9).
public struct USBDeviceDescription: Sendable, Hashable {
  /// The vendor id (idVendor).
  public var vendorID: UInt16
  /// The product id, which the vendor assigns (idProduct).
  public var productID: UInt16
  /// The release of the device, in binary-coded decimal: 0x0102 is 1.02 (bcdDevice).
  public var release: UInt16
  /// The release of the USB specification that the device follows, in binary-coded decimal (bcdUSB).
  public var usbRelease: UInt16
  /// The device's class; class 0 means that each interface has a class of its own.
  public var function: USBClass
  /// The configurations, in the order of the data.
  public var configurations: [USBConfigurationDescription]
  /// The first invalid part that was left out, for people; nil when all parts were valid.
  public var damage: String?

  /// The configuration with this value (bConfigurationValue).
  public func configuration(_ value: UInt8) -> USBConfigurationDescription? {
    configurations.first { $0.value == value }
  }
}

/// One of the configurations of a device.
public struct USBConfigurationDescription: Sendable, Hashable {
  /// The value that selects the configuration (bConfigurationValue).
  public var value: UInt8
  /// Whether the device has its own power supply.
  public var isSelfPowered: Bool
  /// The largest current that the device draws from the bus, in steps of 2 mA (USB 2) or 8 mA (USB 3).
  public var maxPowerSteps: UInt8
  /// Every alternate setting of every interface.
  public var interfaces: [USBInterfaceDescription]
}

/// One alternate setting of one interface.
public struct USBInterfaceDescription: Sendable, Hashable {
  /// The interface's number (bInterfaceNumber).
  public var number: UInt8
  /// The number of the alternate setting (bAlternateSetting); 0 is the initial one.
  public var alternateSetting: UInt8
  /// The interface's class.
  public var function: USBClass
  /// The endpoints, without endpoint 0.
  public var endpoints: [USBEndpointDescription]

  /// An alternate setting with these parts.
  package init(number: UInt8, alternateSetting: UInt8, function: USBClass, endpoints: [USBEndpointDescription]) {
    self.number = number
    self.alternateSetting = alternateSetting
    self.function = function
    self.endpoints = endpoints
  }

  /// The first bulk or interrupt endpoint in this direction.
  public func endpoint(_ direction: USBEndpointDescription.Direction) -> USBEndpointDescription? {
    endpoints.first {
      $0.direction == direction && ($0.transfer == .bulk || $0.transfer == .interrupt) && $0.maxPacketSize > 0
    }
  }

  /// True when the interface has a bulk or interrupt endpoint in each direction.
  public var hasPair: Bool { endpoint(.in) != nil && endpoint(.out) != nil }
}

/// One endpoint.
public struct USBEndpointDescription: Sendable, Hashable {
  /// The direction of an endpoint.
  public enum Direction: String, Sendable, Hashable {
    /// To the host.
    case `in`
    /// To the device.
    case out
  }

  /// The transfer type of an endpoint.
  public enum Transfer: String, Sendable, Hashable {
    /// Setup requests and their replies.
    case control
    /// A constant rate, without retransmission.
    case isochronous
    /// Reliable data, whenever the bus has time.
    case bulk
    /// Small reports, which the host polls for at an interval.
    case interrupt
  }

  /// Number and direction as one byte (bEndpointAddress).
  public var address: UInt8
  /// The transfer type.
  public var transfer: Transfer
  /// The size of the largest packet in bytes (wMaxPacketSize, bits 0 to 10).
  public var maxPacketSize: Int
  /// The most packets of an interrupt or isochronous endpoint within 125 µs at high speed: 1 to 3.
  public var packetsPerInterval: Int
  /// The polling interval (bInterval), in units that depend on the speed and the transfer type.
  public var interval: UInt8

  /// An endpoint with these parts.
  package init(address: UInt8, transfer: Transfer, maxPacketSize: Int, packetsPerInterval: Int, interval: UInt8) {
    self.address = address
    self.transfer = transfer
    self.maxPacketSize = maxPacketSize
    self.packetsPerInterval = packetsPerInterval
    self.interval = interval
  }

  /// The direction.
  public var direction: Direction { address & 0x80 != 0 ? .in : .out }
  /// The endpoint number, 1 to 15.
  public var number: UInt8 { address & 0x0F }
}

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
