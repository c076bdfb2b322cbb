// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery

/// What a device must be to be the accessory that a profile means: all that is said here must be so.
///
/// A rule that says nothing fits nothing: no profile takes over every device there is.
public struct DeviceRule: Sendable, Hashable {
  /// The vendor's number on USB (idVendor).
  public var usbVendor: UInt16?
  /// The vendor's number of the product (idProduct).
  public var usbProduct: UInt16?
  /// The class of one of its interfaces (bInterfaceClass).
  public var interfaceClass: UInt8?
  /// The driver that the device was announced with by a simulator.
  public var driver: String?
  /// What its user calls it, or else what it calls itself: on USB its product string.
  public var name: TextPattern?
  /// The manufacturer's name.
  public var manufacturer: TextPattern?
  /// Which product it is, as a simulator announces it.
  public var model: TextPattern?
  /// The serial number.
  public var serialNumber: TextPattern?
  /// The name of a link to its terminal in /dev/serial/by-id.
  public var byID: TextPattern?
  /// Where it is: the path of its terminal, or of a link to that, such as one in /dev/serial/by-path. Whatever is plugged in
  /// there fits.
  public var path: String?

  /// A rule of these parts.
  public init(
    driver: String? = nil, name: TextPattern? = nil, manufacturer: TextPattern? = nil, model: TextPattern? = nil,
    serialNumber: TextPattern? = nil, usbVendor: UInt16? = nil, usbProduct: UInt16? = nil, interfaceClass: UInt8? = nil,
    byID: TextPattern? = nil, path: String? = nil
  ) {
    self.driver = driver
    self.name = name
    self.manufacturer = manufacturer
    self.model = model
    self.serialNumber = serialNumber
    self.usbVendor = usbVendor
    self.usbProduct = usbProduct
    self.interfaceClass = interfaceClass
    self.byID = byID
    self.path = path
  }

  /// Whether `device` is as this says.
  public func fits(_ device: Device) -> Bool {
    guard self != DeviceRule() else { return false }
    return fits(driver, device.driver) && fits(usbVendor, device.usb?.vendorID)
      && fits(usbProduct, device.usb?.productID) && fits(name, device.name) && fits(manufacturer, device.manufacturer)
      && fits(model, device.model) && fits(serialNumber, device.serialNumber) && fitsClass(of: device)
      && fitsName(of: device) && fitsPath(of: device)
  }

  private func fits<Value: Equatable>(_ wanted: Value?, _ value: Value?) -> Bool { wanted == nil || wanted == value }

  private func fits(_ wanted: TextPattern?, _ value: String?) -> Bool {
    guard let wanted else { return true }
    return value.map(wanted.fits) ?? false
  }

  private func fitsClass(of device: Device) -> Bool {
    guard let interfaceClass else { return true }
    return device.usb?.interfaces.contains { $0.description.function.code == interfaceClass } ?? false
  }

  private func fitsName(of device: Device) -> Bool {
    guard let byID else { return true }
    return device.links.contains { link in
      link.hasPrefix(Self.byIDDirectory) && byID.fits(String(link.dropFirst(Self.byIDDirectory.count)))
    }
  }

  private func fitsPath(of device: Device) -> Bool {
    guard let path else { return true }
    return [device.address.node, device.terminal, device.link].contains(path) || device.links.contains(path)
  }

  /// Where udev keeps the links by name.
  static let byIDDirectory = "/dev/serial/by-id/"

  /// How much it says of a device, what tells most first: two rules are compared like words in a dictionary. The whole
  /// of a text says more than a pattern, and a pattern more than nothing.
  var specificity: [Int] {
    [
      weight(serialNumber), weight(byID), path == nil ? 0 : 2, driver == nil ? 0 : 2, weight(model), weight(name),
      weight(manufacturer),
      usbProduct == nil ? 0 : 2, usbVendor == nil ? 0 : 2, interfaceClass == nil ? 0 : 2,
    ]
  }

  private func weight(_ pattern: TextPattern?) -> Int {
    guard let pattern, !pattern.isAnything else { return 0 }
    return pattern.isExact ? 2 : 1
  }
}
