// SPDX-License-Identifier: Apache-2.0

/// The name of a USB device by its ids, as a user types it.
struct USBName {
  private let vendor: UInt16
  private let product: UInt16
  private let serialNumber: String?

  /// Reads `usb:VENDOR:PRODUCT[:SERIAL]`. Nil when the text doesn't begin with `usb:`; throws `malformed` when the rest
  /// is invalid.
  init?(_ text: String) throws(ResolutionError) {
    guard text.prefix(4).lowercased() == "usb:" else { return nil }
    // Everything after the second colon is the serial number, which may contain colons.
    let parts = text.dropFirst(4).split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, let vendor = Self.number(parts[0]), let product = Self.number(parts[1]) else {
      throw .malformed(text)
    }
    self.vendor = vendor
    self.product = product
    serialNumber = parts.count == 3 ? String(parts[2]) : nil
  }

  private static func number(_ text: Substring) -> UInt16? {
    (1...4).contains(text.utf8.count) && text.first != "+" && text.first != "-" ? UInt16(text, radix: 16) : nil
  }

  func isMatch(_ device: Device) -> Bool {
    device.usb?.vendorID == vendor && device.usb?.productID == product
      && (serialNumber == nil || device.serialNumber == serialNumber)
  }
}
