// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What is chosen of a simulated accessory that may be a USB device.
package struct SimulatedUSB: CommandSettings {
  package var usb = false
  private var tty = false
  private var hid = false
  private var ftdi = false
  private var vendorID: UInt16?
  private var productID: UInt16?

  package init() {}

  package static let options: [CommandOption<Self>] = [
    .flag("usb", "Simulate a real USB device. Needs root and 'modprobe vhci-hcd'.", \.usb),
    .flag("tty", "With --usb: a serial port of the communications class, /dev/ttyACM.", \.tty).rare,
    .flag("hid", "With --usb: a HID device with reports of 1024 bytes.", \.hid).rare,
    .flag("ftdi", "With --usb: an FTDI serial adapter, /dev/ttyUSB.", \.ftdi).rare,
    .word16("vendor-id", "USB vendor ID; default: 1209, which has product IDs for tests.", \.vendorID).rare,
    .word16("product-id", "USB product ID; default: 0001 to 0003.", \.productID).rare,
  ]

  package var problem: String? {
    let kinds = [tty, hid, ftdi].count { $0 }
    if kinds > 1 { return "--tty, --hid and --ftdi can't be used together" }
    return (kinds > 0 || vendorID != nil || productID != nil) && !usb
      ? "--tty, --hid, --ftdi, --vendor-id and --product-id need --usb" : nil
  }

  /// The device's identity without its strings; nil without `--usb`.
  package var identity: SimulatedUSBIdentity? {
    guard usb else { return nil }
    var identity = SimulatedUSBIdentity(tty ? .modem : hid ? .reports : ftdi ? .ftdi : .bulk)
    if let vendorID { identity.vendorID = vendorID }
    if let productID { identity.productID = productID }
    return identity
  }
}

/// Faults on the bus of a simulated USB device.
package struct SimulatedBusFaults: CommandSettings {
  package var stall: Int?
  package var protocolError: Int?

  package init() {}

  package static let options: [CommandOption<Self>] = [
    .whole("stall", "number", "With --usb: halt the endpoint at this request.", \.stall, 1...Int.max).rare,
    .whole(
      "protocol-error", "number", "With --usb: lose the reply to this request in a bus error.", \.protocolError,
      1...Int.max
    ).rare,
  ]

  /// Whether there is any.
  package var isAny: Bool { stall != nil || protocolError != nil }
}
