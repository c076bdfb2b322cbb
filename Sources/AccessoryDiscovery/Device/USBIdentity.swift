// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// What a device is on USB, and where.
public struct USBIdentity: Sendable, Hashable {
  /// The vendor's number (idVendor).
  public var vendorID: UInt16
  /// The vendor's number of the product (idProduct).
  public var productID: UInt16
  /// The release of the device, in binary-coded decimal; nil when the system doesn't say.
  public var release: UInt16?
  /// The number of its bus.
  public var bus: Int
  /// Its address on the bus, which changes each time it is plugged in.
  public var address: Int
  /// Its node of usbfs ("/dev/bus/usb/001/005").
  public var node: String
  /// The port it is plugged into, as the kernel names it ("1-1.4"): the bus, then the port of each hub.
  public var port: String
  /// Its directory below /sys ("/devices/…/usb1/1-1/1-1.4").
  public var devpath: String
  /// Megabits a second: 1.5, 12, 480, 5000, 10000, 20000; nil when the system doesn't say.
  public var speed: Double?
  /// What kind of device it is; class 0 leaves that to its interfaces.
  public var function: USBClass
  /// The value of the configuration that is in force; nil when it has none, or none of its interfaces is known.
  public var configuration: UInt8?
  /// Its interfaces in their present settings, by number; of a device with several terminals those that belong to this
  /// one.
  public var interfaces: [USBInterface] = []
  /// The interface of the terminal, where the accessory has several pairs of endpoints and so may have several
  /// terminals; otherwise nil.
  public var terminalInterface: UInt8?
  /// Defects of its descriptors, for people; nil when there are none.
  public var damage: String?

  /// An identity of these parts, without interfaces.
  package init(
    vendorID: UInt16, productID: UInt16, release: UInt16? = nil, bus: Int, address: Int, node: String, port: String,
    devpath: String, speed: Double? = nil, function: USBClass, damage: String? = nil
  ) {
    self.vendorID = vendorID
    self.productID = productID
    self.release = release
    self.bus = bus
    self.address = address
    self.node = node
    self.port = port
    self.devpath = devpath
    self.speed = speed
    self.function = function
    self.damage = damage
  }

  /// Vendor and product, as lsusb writes them: "2341:0043".
  public var product: String { Hexadecimal.string(vendorID) + ":" + Hexadecimal.string(productID) }

  /// Whether one of its interfaces could be that of an accessory.
  var mayBeAccessory: Bool { function.code != USBClass.hub && interfaces.contains(where: \.mayBeAccessory) }
}

/// An interface of a device, in its present setting.
public struct USBInterface: Sendable, Hashable {
  /// Its numbers and endpoints.
  public var description: USBInterfaceDescription
  /// The kernel driver that is bound to it; nil when there is none.
  public var driver: String?

  /// An interface of these parts.
  package init(description: USBInterfaceDescription, driver: String? = nil) {
    self.description = description
    self.driver = driver
  }

  /// Drivers that don't make an interface unusable: libusb can detach `usbhid`, and `usbfs` is libusb itself.
  private static let yieldingDrivers = ["usbhid", "usbfs"]
  /// Classes of devices that aren't accessories, even where the kernel has no driver for them: audio, image, mass
  /// storage, hub, smart card, content security, video, audio and video, wireless
  /// (https://www.usb.org/defined-class-codes).
  private static let systemClasses: [UInt8] = [0x01, 0x06, 0x08, 0x09, 0x0B, 0x0D, 0x0E, 0x10, 0xE0]

  /// Whether it could be that of an accessory: it has an IN and an OUT endpoint, isn't a keyboard or a mouse, isn't of
  /// a class with another use, and isn't bound to a kernel driver with another use.
  var mayBeAccessory: Bool {
    let function = description.function
    let isKeyboardOrMouse =
      function.code == USBClass.humanInterface && function.subclass == 1 && (1...2).contains(function.protocol)
    return description.hasPair && !isKeyboardOrMouse && !Self.systemClasses.contains(function.code)
      && driver.map(Self.yieldingDrivers.contains) ?? true
  }
}
