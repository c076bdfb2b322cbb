// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessorySimulator
import ArgumentParser
import Glibc

/// As what USB device an accessory is simulated.
struct USBOptions: ParsableArguments {
  @Flag(help: "As a real USB device, with a pair of bulk endpoints. Needs root and 'modprobe vhci-hcd'.")
  var usb = false
  @Flag(help: "With --usb: as a serial port of the communications class, /dev/ttyACM.")
  var tty = false
  @Flag(help: "With --usb: as a HID device with reports of 1024 bytes.")
  var hid = false
  @Flag(help: "With --usb: as an FTDI serial adapter, /dev/ttyUSB.")
  var ftdi = false
  @Option(
    help: ArgumentHelp("USB vendor; 1209 unless given, which has products for tests.", valueName: "hex"),
    transform: USBNumberArgument.read)
  var vendorID: USBNumberArgument?
  @Option(
    help: ArgumentHelp("USB product; 0001 to 0003 unless given.", valueName: "hex"), transform: USBNumberArgument.read)
  var productID: USBNumberArgument?
  @Option(help: ArgumentHelp("With --usb: halt the endpoint at this request.", valueName: "number"))
  var stall: Int?
  @Option(help: ArgumentHelp("With --usb: lose this request's answer to an error on the bus.", valueName: "number"))
  var protocolError: Int?

  func validate() throws {
    let kinds = [tty, hid, ftdi].count { $0 }
    if kinds > 1 { throw ValidationError("--tty, --hid and --ftdi exclude each other") }
    let isUSB = kinds > 0 || vendorID != nil || productID != nil || stall != nil || protocolError != nil
    if isUSB, !usb {
      throw ValidationError("--tty, --hid, --ftdi, --vendor-id, --product-id, --stall and --protocol-error need --usb")
    }
    guard stall ?? 1 > 0, protocolError ?? 1 > 0 else { throw ValidationError("requests are counted from 1") }
  }

  /// The device, without its strings; nil when it is to be none.
  var identity: SimulatedUSBIdentity? {
    guard usb else { return nil }
    var identity = SimulatedUSBIdentity(tty ? .modem : hid ? .reports : ftdi ? .ftdi : .bulk)
    if let vendorID { identity.vendorID = vendorID.number }
    if let productID { identity.productID = productID.number }
    return identity
  }

  /// The serial numbers of the USB devices that are plugged in.
  static func serialNumbers() -> [String] {
    let devices = "/sys/bus/usb/devices"
    return Directory.names(in: devices).compactMap { name in
      (try? SmallFile.read("\(devices)/\(name)/serial", limit: 1_024)).map {
        String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      }
    }
  }
}

/// A number of a USB vendor or product on the command line: four hexadecimal digits.
struct USBNumberArgument: FormArgument {
  static let form = "a number of up to four hexadecimal digits, like 1209,"
  let number: UInt16

  init?(argument: String) {
    guard argument.allSatisfy(\.isHexDigit), let number = UInt16(argument, radix: 16) else { return nil }
    self.number = number
  }
}
