// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

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
