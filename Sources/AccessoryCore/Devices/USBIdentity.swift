// SPDX-License-Identifier: Apache-2.0

/// The identity of a USB device, and its place on the bus.
public struct USBIdentity: Sendable, Hashable {
  /// The vendor id (idVendor).
  public var vendorID: UInt16
  /// The product id, which the vendor assigns (idProduct).
  public var productID: UInt16
  /// The release of the device, in binary-coded decimal; nil when the system doesn't report it.
  public var release: UInt16?
  /// The number of the bus.
  public var bus: Int
  /// The device's address on the bus, which changes each time the device is plugged in.
  public var address: Int
  /// The usbfs node ("/dev/bus/usb/001/005").
  public var node: String
  /// The port that the device is plugged into, as the kernel names it ("1-1.4"): the bus, then the port of each hub.
  public var port: String
  /// The device's directory below /sys ("/devices/…/usb1/1-1/1-1.4").
  public var devpath: String
  /// The speed in megabits per second: 1.5, 12, 480, 5000, 10000, 20000; nil when the system doesn't report it.
  public var speed: Double?
  /// The device's class; class 0 means that each interface has a class of its own.
  public var function: USBClass
  /// The value of the active configuration; nil when there is none, or none of its interfaces is known.
  public var configuration: UInt8?
  /// The interfaces with their current alternate settings, by number. If the accessory has several terminals, only the
  /// interfaces that belong to this one.
  public var interfaces: [USBInterface] = []
  /// The number of the terminal's interface, if the accessory has several pairs of endpoints and so may have several
  /// terminals; that of a power device beside a terminal; otherwise nil.
  public var terminalInterface: UInt8?
  /// Defects of the descriptors, for people; nil when there are none.
  public var damage: String?

  package init(
    vendorID: UInt16, productID: UInt16, release: UInt16? = nil, bus: Int, address: Int, node: String, port: String,
    devpath: String = "", speed: Double? = nil, function: USBClass = USBClass(code: 0), damage: String? = nil,
    configuration: UInt8? = nil, interfaces: [USBInterface] = []
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
    self.configuration = configuration
    self.interfaces = interfaces
  }

  /// The vendor id and the product id, as lsusb prints them: "2341:0043".
  public var product: String { Hexadecimal.string(vendorID) + ":" + Hexadecimal.string(productID) }

  /// The product with its port: "2341:0043@1-1.4".
  package var place: String { "\(product)@\(port)" }

  /// Whether one of the interfaces could be that of an accessory.
  package var mayBeAccessory: Bool { function.code != USBClass.hub && interfaces.contains(where: \.mayBeAccessory) }
}

/// An interface of a device, with its current alternate setting.
public struct USBInterface: Sendable, Hashable {
  /// The numbers and endpoints of the interface.
  public var description: USBInterfaceDescription
  /// The kernel driver that is bound to the interface; nil when there is none.
  public var driver: String?

  package init(description: USBInterfaceDescription, driver: String? = nil) {
    self.description = description
    self.driver = driver
  }

  /// Drivers that leave the interface usable: libusb can detach `usbhid`, and `usbfs` is libusb itself.
  private static let yieldingDrivers = ["usbhid", "usbfs"]
  /// Classes of devices that aren't accessories, even if the kernel has no driver for them: audio, image, mass storage,
  /// hub, smart card, content security, video, audio and video, wireless (https://www.usb.org/defined-class-codes).
  private static let systemClasses: [UInt8] = [0x01, 0x06, 0x08, 0x09, 0x0B, 0x0D, 0x0E, 0x10, 0xE0]

  /// Whether the interface could be that of an accessory: it has an IN and an OUT endpoint, isn't a keyboard or a
  /// mouse, and neither its class nor its kernel driver has another use.
  package var mayBeAccessory: Bool {
    let function = description.function
    let isKeyboardOrMouse =
      function.code == USBClass.humanInterface && function.subclass == 1 && (1...2).contains(function.protocol)
    return description.hasPair && !isKeyboardOrMouse && !Self.systemClasses.contains(function.code)
      && driver.map(Self.yieldingDrivers.contains) ?? true
  }
}
