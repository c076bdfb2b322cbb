// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import SystemPackage

/// Who made a human interface device on USB, from the kernel's folder of it. All texts come from the device: escape them before showing
/// them.
public struct HIDMaker: Sendable, Hashable {
  /// The USB vendor id; nil where the device isn't on USB.
  public var vendor: UInt16?
  /// The USB product id.
  public var product: UInt16?
  /// The manufacturer's name.
  public var manufacturer: String?
  /// The name of the product.
  public var name: String?
  /// The serial number.
  public var serialNumber: String?

  /// A maker of these parts.
  public init(
    vendor: UInt16? = nil, product: UInt16? = nil, manufacturer: String? = nil, name: String? = nil,
    serialNumber: String? = nil
  ) {
    (self.vendor, self.product) = (vendor, product)
    (self.manufacturer, self.name, self.serialNumber) = (manufacturer, name, serialNumber)
  }

  /// The longest text in bytes: a USB string has at most 126 UTF-16 units.
  private static let textLimit = 504

  /// What the kernel knows of the device behind an open node of hidraw, or of usbfs. Reading it may wait for the device.
  init(of node: FileDescriptor, isUSB: Bool = false) {
    var file = stat()
    guard fstat(node.rawValue, &file) == 0, file.st_mode & S_IFMT == S_IFCHR else { return }
    let number = UInt64(file.st_rdev)
    let numbers = "\(shim_major(number)):\(shim_minor(number))"
    // Above hidraw's node are the HID device, the USB interface, and the USB device.
    let folder = "/sys/dev/char/\(numbers)" + (isUSB ? "" : "/device/../..")
    func text(_ name: String) -> String? {
      guard let bytes = try? SmallFile.read("\(folder)/\(name)", limit: Self.textLimit) else { return nil }
      let text = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
      let blanks = text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
      return blanks.isEmpty ? nil : String(blanks)
    }
    vendor = text("idVendor").flatMap { UInt16($0, radix: 16) }
    product = text("idProduct").flatMap { UInt16($0, radix: 16) }
    guard vendor != nil else { return }
    (manufacturer, name, serialNumber) = (text("manufacturer"), text("product"), text("serial"))
  }
}
