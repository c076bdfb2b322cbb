// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessorySimulator
import ArgumentParser
import CommandOutput
import Glibc

/// Options for a simulator that is a USB device.
struct USBOptions: ParsableArguments {
  @Flag(help: "Simulate a real USB device. Needs root and 'modprobe vhci-hcd'.")
  var usb = false
  @Flag(help: .rare("With --usb: a serial port of the communications class, /dev/ttyACM.")) var tty = false
  @Flag(help: .rare("With --usb: a HID device with reports of 1024 bytes.")) var hid = false
  @Flag(help: .rare("With --usb: an FTDI serial adapter, /dev/ttyUSB.")) var ftdi = false
  @Option(
    help: .rare("hex", "USB vendor ID; default: 1209, which has product IDs for tests."),
    transform: USBNumberArgument.read)
  var vendorID: USBNumberArgument?
  @Option(help: .rare("hex", "USB product ID; default: 0001 to 0003."), transform: USBNumberArgument.read)
  var productID: USBNumberArgument?

  func validate() throws {
    let kinds = [tty, hid, ftdi].count { $0 }
    if kinds > 1 { throw ValidationError("--tty, --hid and --ftdi can't be used together") }
    if kinds > 0 || vendorID != nil || productID != nil, !usb {
      throw ValidationError("--tty, --hid, --ftdi, --vendor-id and --product-id need --usb")
    }
  }

  /// The device's identity without its strings; nil without `--usb`.
  var identity: SimulatedUSBIdentity? {
    guard usb else { return nil }
    var identity = SimulatedUSBIdentity(tty ? .modem : hid ? .reports : ftdi ? .ftdi : .bulk)
    if let vendorID { identity.vendorID = vendorID.number }
    if let productID { identity.productID = productID.number }
    return identity
  }

  /// The serial numbers of all USB devices that are plugged in.
  static func serialNumbers() -> [String] {
    let devices = "/sys/bus/usb/devices"
    return Directory.names(in: devices).compactMap { name in
      (try? SmallFile.read("\(devices)/\(name)/serial", limit: 1_024)).map {
        String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      }
    }
  }
}

/// Faults on the bus of a simulated USB device.
struct USBFaultOptions: ParsableArguments {
  @Option(help: .rare("number", "With --usb: halt the endpoint at this request.")) var stall: Int?
  @Option(help: .rare("number", "With --usb: lose the reply to this request in a bus error.")) var protocolError: Int?

  func validate() throws {
    guard stall ?? 1 > 0, protocolError ?? 1 > 0 else { throw ValidationError("requests are counted from 1") }
  }

  /// Whether there is any.
  var isAny: Bool { stall != nil || protocolError != nil }
}

/// A USB vendor or product ID on the command line: up to four hexadecimal digits.
struct USBNumberArgument: FormArgument {
  static let form = "a number of up to four hexadecimal digits, like 1209"
  let number: UInt16

  init?(argument: String) {
    guard argument.allSatisfy(\.isHexDigit), let number = UInt16(argument, radix: 16) else { return nil }
    self.number = number
  }
}
