// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryDiscovery
import AccessoryIO

extension DeviceRule {
  /// Why the rule would match unrelated devices; nil when it is specific enough.
  var overreachProblem: String? {
    if let bluetooth { return bluetooth.overreachProblem }
    if !saysSomething {
      return
        "this rule matches too many kinds of devices: add usb vendor and product, a serial, a name, "
        + "or a by_id pattern"
    }
    // A path is specific: the user wants any device that is plugged in there.
    if path != nil { return nil }
    for (chip, examples) in GenericChip.withExamples where goesByNumbers(of: chip) || examples.contains(where: fits) {
      return
        "this rule matches every \(chip.name), a chip that is in many different gadgets: add what only yours has: its "
        + "serial, its own product string (name), or a by_id pattern with one of these"
    }
    return nil
  }

  /// Whether the rule has more than a class, and more than patterns that match every text.
  private var saysSomething: Bool {
    driver != nil || usbVendor != nil || path != nil || hidUsage != nil
      || [name, manufacturer, model, serialNumber, byID].contains { $0.map { !$0.isAnything } ?? false }
  }

  /// Whether the rule matches this chip's ids, and has nothing else that distinguishes devices with this chip.
  private func goesByNumbers(of chip: GenericChip) -> Bool {
    driver == nil && usbVendor == chip.vendor && (usbProduct ?? chip.product) == chip.product
      && [name, serialNumber, byID].allSatisfy { $0.map(\.isAnything) ?? true }
  }
}

extension GenericChip {
  /// All chips with their examples. Stored, because every rule of every profile is compared with them.
  fileprivate static let withExamples = all.map { ($0, $0.examples) }

  /// Devices with this chip and its strings from the factory.
  var examples: [Device] {
    // "\u{1}" stands for any serial number: a rule can't have it, because texts in profiles have no control characters.
    stock.flatMap { stock in ([nil, "\u{1}"] + serials).map { example(stock, serial: $0) } }
  }

  private func example(_ stock: Stock, serial: String?) -> Device {
    var usb = USBIdentity(
      vendorID: vendor, productID: product, bus: 1, address: 1, node: "/dev/bus/usb/001/001", port: "1-1", devpath: "/",
      function: USBClass(code: 0))
    usb.interfaces = [0x0A, interfaceClass].map { code in
      USBInterface(
        description: USBInterfaceDescription(
          number: 0, alternateSetting: 0, function: USBClass(code: code), endpoints: []))
    }
    let terminal = interfaceClass == 0x02 ? "/dev/ttyACM0" : "/dev/ttyUSB0"
    var device = Device(
      .terminal(terminal), source: .udev, name: stock.product, manufacturer: stock.manufacturer, serialNumber: serial,
      terminal: terminal, usb: usb)
    // The link name that udev's rules make (60-serial.rules).
    let parts = [stock.manufacturer ?? hex(vendor), stock.product ?? hex(product), serial].compactMap { $0 }
    let name = parts.joined(separator: "_").map { $0 == " " ? "_" : String($0) }.joined()
    device.links = ["", "-port0"].map { "\(DeviceRule.byIDDirectory)usb-\(name)-if00\($0)" }
    return device
  }

  private func hex(_ number: UInt16) -> String { HexNumber.text(number) }
}
