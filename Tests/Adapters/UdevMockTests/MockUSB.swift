// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A device on USB for the testbed: what its directory in /sys has, its interfaces and its terminals.
struct MockUSB: Sendable {
  struct Interface: Sendable {
    var number: UInt8
    var function: (UInt8, UInt8, UInt8) = (0xFF, 0, 0)
    /// Address, attributes (2 bulk, 3 interrupt), bytes of a packet.
    var endpoints: [(UInt8, UInt8, UInt16)] = []
    var driver: String?

    /// A pair of bulk endpoints.
    static func bulk(_ number: UInt8, _ function: (UInt8, UInt8, UInt8) = (0xFF, 0, 0), driver: String? = nil) -> Self {
      let end = number &* 2 &+ 1
      return Interface(
        number: number, function: function, endpoints: [(0x80 | end, 2, 512), (end, 2, 512)], driver: driver)
    }
  }

  var port = "1-2"
  var bus = 1
  var address = 5
  var vendor: UInt16 = 0x1234
  var product: UInt16 = 0x5678
  var deviceClass: UInt8 = 0
  /// manufacturer, product, serial.
  var strings: [String: [UInt8]] = [:]
  /// udev's.
  var properties: [String: String] = [:]
  var interfaces: [Interface] = [.bulk(0)]
  /// Names and interfaces.
  var terminals: [(name: String, interface: UInt8)] = []
  /// The interfaces that have HID reports, with what their descriptors are.
  var reports: [(interface: UInt8, descriptor: [UInt8])] = []
  /// Of the terminals, by name.
  var links: [String: String] = [:]
  /// Instead of those that the interfaces make.
  var descriptors: [UInt8]?

  var devpath: String { "/devices/pci0000:00/0000:00:14.0/usb\(bus)/\(port)" }
  var node: String { "/dev/bus/usb/" + [bus, address].map { "00\($0)".suffix(3) }.joined(separator: "/") }
  func path(of interface: UInt8) -> String { "\(devpath)/\(port):1.\(interface)" }
  func path(of terminal: (name: String, interface: UInt8)) -> String {
    "\(path(of: terminal.interface))/tty/\(terminal.name)"
  }

  /// The devpaths, parents first.
  var devpaths: [String] {
    [devpath] + interfaces.map { path(of: $0.number) } + terminals.map { path(of: $0) }
  }

  /// All of it in umockdev's form.
  var text: String {
    ([deviceText] + interfaces.map(text) + terminals.map(text) + reports.map(text)).joined(separator: "\n")
  }

  var deviceText: String {
    var lines = [
      "P: \(devpath)", "E: SUBSYSTEM=usb", "E: DEVTYPE=usb_device", "E: DEVNAME=\(node)",
      "E: BUSNUM=\("00\(bus)".suffix(3))", "E: DEVNUM=\("00\(address)".suffix(3))",
      "A: busnum=\(bus)\\n", "A: devnum=\(address)\\n", "A: speed=480\\n",
      "A: bDeviceClass=\(hex([deviceClass]))\\n", "A: idVendor=\(hex(big(vendor)))\\n",
      "A: idProduct=\(hex(big(product)))\\n", "A: bcdDevice=0102\\n", "H: descriptors=\(hex(descriptors ?? described))",
    ]
    lines += properties.sorted { $0.key < $1.key }.map { "E: \($0)=\($1)" }
    lines += strings.sorted { $0.key < $1.key }.map { "H: \($0)=\(hex($1 + [0x0A]))" }
    return lines.joined(separator: "\n") + "\n"
  }

  func text(_ interface: Interface) -> String {
    var lines = [
      "P: \(path(of: interface.number))", "E: SUBSYSTEM=usb", "E: DEVTYPE=usb_interface",
      "A: bInterfaceNumber=\(hex([interface.number]))\\n", "A: bAlternateSetting= 0\\n",
    ]
    if let driver = interface.driver { lines.append("L: driver=../../../../../../bus/usb/drivers/\(driver)") }
    return lines.joined(separator: "\n") + "\n"
  }

  func text(_ terminal: (name: String, interface: UInt8)) -> String {
    var lines = [
      "P: \(path(of: terminal))", "E: SUBSYSTEM=tty", "E: DEVNAME=/dev/\(terminal.name)",
    ]
    if let links = links[terminal.name] { lines.append("E: DEVLINKS=\(links)") }
    return lines.joined(separator: "\n") + "\n"
  }

  func text(_ reports: (interface: UInt8, descriptor: [UInt8])) -> String {
    let device = "\(path(of: reports.interface))/0003:2341:8036.0001"
    return """
      P: \(device)
      E: SUBSYSTEM=hid
      H: report_descriptor=\(hex(reports.descriptor))

      P: \(device)/hidraw/hidraw\(reports.interface)
      E: SUBSYSTEM=hidraw
      E: DEVNAME=/dev/hidraw\(reports.interface)
      L: device=../../../0003:2341:8036.0001

      """
  }

  /// The descriptors of one configuration with these interfaces.
  var described: [UInt8] {
    var rest: [UInt8] = []
    for interface in interfaces {
      let function = interface.function
      rest += [9, 4, interface.number, 0, UInt8(interface.endpoints.count), function.0, function.1, function.2, 0]
      for (address, attributes, size) in interface.endpoints {
        rest += [7, 5, address, attributes] + big(size).reversed() + [1]
      }
    }
    let total = UInt16(rest.count + 9)
    return [18, 1, 0, 2, deviceClass, 0, 0, 64] + big(vendor).reversed() + big(product).reversed()
      + [2, 1, 1, 2, 3, 1, 9, 2] + big(total).reversed() + [UInt8(interfaces.count), 1, 0, 0x80, 50] + rest
  }

  private func big(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)] }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension MockUSB {
  /// A board with a composite CDC function, as cdc_acm has it.
  static var board: MockUSB {
    var board = MockUSB(vendor: 0x2341, product: 0x0043, deviceClass: 2)
    board.strings = [
      "manufacturer": Array("Arduino LLC".utf8), "product": Array("Uno".utf8), "serial": Array("A1".utf8),
    ]
    board.interfaces = [
      Interface(number: 0, function: (2, 2, 1), endpoints: [(0x83, 3, 16)], driver: "cdc_acm"),
      .bulk(1, (0x0A, 0, 0), driver: "cdc_acm"),
    ]
    board.terminals = [("ttyACM0", 0)]
    board.links["ttyACM0"] =
      "/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0 /dev/serial/by-id/usb-Arduino_Uno_A1-if00"
    return board
  }

  /// A board with a serial port that is a UPS, too.
  static var boardWithUPS: MockUSB {
    var board = board
    board.deviceClass = 0xEF
    board.interfaces.append(Interface(number: 2, function: (3, 0, 0), endpoints: [(0x84, 3, 64)], driver: "usbhid"))
    board.reports = [
      (
        2,
        [5, 0x84, 9, 4, 0xA1, 1, 9, 0x24, 0xA1, 2, 0x75, 8, 0x95, 1, 5, 0x85, 0x85, 1, 9, 0x66, 0xB1, 0xA2, 0xC0, 0xC0]
      )
    ]
    return board
  }

  /// A chip with two serial ports.
  static var twoPorts: MockUSB {
    var chip = MockUSB(port: "1-3", address: 9, vendor: 0x0403, product: 0x6010)
    chip.strings["serial"] = Array("FT1".utf8)
    chip.interfaces = [.bulk(0, driver: "ftdi_sio"), .bulk(1, driver: "ftdi_sio")]
    chip.terminals = [("ttyUSB0", 0), ("ttyUSB1", 1)]
    return chip
  }

  /// A vendor-specific pair of endpoints, and a serial number of its own.
  static func gadget(_ number: Int, bus: Int = 1) -> MockUSB {
    var gadget = MockUSB(port: "\(bus)-1.\(number)", bus: bus, address: number + 20)
    gadget.strings["serial"] = Array("G\(number)".utf8)
    return gadget
  }
}
