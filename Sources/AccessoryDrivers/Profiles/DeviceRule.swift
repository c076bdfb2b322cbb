// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryProtocols

/// A rule that decides whether a profile applies to a device. All properties that aren't nil must match.
///
/// An empty rule matches nothing, so that no profile applies to every device.
public struct DeviceRule: Sendable, Hashable {
  /// The USB vendor id (idVendor).
  public var usbVendor: UInt16?
  /// The USB product id (idProduct).
  public var usbProduct: UInt16?
  /// The class of one of the device's USB interfaces (bInterfaceClass).
  public var interfaceClass: UInt8?
  /// What the device is by the first of its HID reports' collections, a page and a number of the usage tables: 0084:0004 is a UPS.
  public var hidUsage: HIDUsage?
  /// The driver that a simulator announced the device with.
  public var driver: String?
  /// The name that the user gave the device, or else its own: on USB its product string.
  public var name: TextPattern?
  /// The manufacturer's name.
  public var manufacturer: TextPattern?
  /// The model that a simulator announced.
  public var model: TextPattern?
  /// The serial number.
  public var serialNumber: TextPattern?
  /// The name of a link to its terminal in /dev/serial/by-id.
  public var byID: TextPattern?
  /// The path of the device's terminal, or of a link to it, such as one in /dev/serial/by-path. Matches any device that
  /// is plugged in there. Or the address of a device on the network.
  public var path: String?
  /// The conditions for a Bluetooth device. A rule with it matches only Bluetooth devices, and one without it matches
  /// none of them.
  public var bluetooth: BluetoothRule?

  /// A rule with these properties.
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

  /// Whether the rule matches `device`.
  public func fits(_ device: Device) -> Bool {
    guard self != DeviceRule() else { return false }
    if let bluetooth {
      guard bluetooth.fits(device) else { return false }
    } else if device.bluetooth != nil {
      // A Bluetooth device can advertise any name.
      return false
    }
    return fits(driver, device.driver) && fits(usbVendor, device.usb?.vendorID)
      && fits(usbProduct, device.usb?.productID) && fits(name, device.name) && fits(manufacturer, device.manufacturer)
      && fits(model, device.model) && fits(serialNumber, device.serialNumber) && fitsClass(of: device)
      && fitsUsage(of: device) && fitsName(of: device) && fitsPath(of: device)
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

  private func fitsUsage(of device: Device) -> Bool {
    guard let hidUsage else { return true }
    return device.hid?.applications.contains(hidUsage.extended) ?? false
  }

  private func fitsName(of device: Device) -> Bool {
    guard let byID else { return true }
    return device.links.contains { link in
      link.hasPrefix(Self.byIDDirectory) && byID.fits(String(link.dropFirst(Self.byIDDirectory.count)))
    }
  }

  private func fitsPath(of device: Device) -> Bool {
    guard let path else { return true }
    let place = device.address.transport.isNetwork ? device.address.description : device.address.node
    return [place, device.terminal, device.link].contains(path) || device.links.contains(path)
  }

  /// The folder of udev's links with stable names.
  static let byIDDirectory = "/dev/serial/by-id/"

  /// How specific the rule is: a number for each property, the most significant first. Rules are compared
  /// lexicographically. An exact text counts more than a pattern, and a pattern more than a missing property.
  var specificity: [Int] {
    if let bluetooth { return bluetooth.specificity }
    return [
      weight(serialNumber), weight(byID), path == nil ? 0 : 2, driver == nil ? 0 : 2, weight(model), weight(name),
      weight(manufacturer),
      usbProduct == nil ? 0 : 2, usbVendor == nil ? 0 : 2, interfaceClass == nil ? 0 : 2,
      hidUsage == nil ? 0 : 2,
    ]
  }

  private func weight(_ pattern: TextPattern?) -> Int {
    guard let pattern, !pattern.isAnything else { return 0 }
    return pattern.isExact ? 2 : 1
  }
}
