// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryIO

extension DeviceRule {
  /// Why the rule would take over strangers' devices; nil when it doesn't.
  var strangers: String? {
    if !saysSomething {
      return
        "this says too little to tell one kind of device from another: add usb vendor and product, a serial, a name, "
        + "or a by_id pattern"
    }
    // Who names a place means whatever is plugged in there.
    if path != nil { return nil }
    for (chip, examples) in GenericChip.withExamples where goesByNumbers(of: chip) || examples.contains(where: fits) {
      return
        "this fits every \(chip.name), a chip that is in many different gadgets: add what only yours has, its serial, "
        + "its own product string (name), or a by_id pattern with one of these"
    }
    return nil
  }

  /// Class alone, or patterns that stand for anything, are in any number of devices.
  private var saysSomething: Bool {
    driver != nil || usbVendor != nil || path != nil
      || [name, manufacturer, model, serialNumber, byID].contains { $0.map { !$0.isAnything } ?? false }
  }

  /// Whether it could mean this chip, and says nothing that only some of these have.
  private func goesByNumbers(of chip: GenericChip) -> Bool {
    driver == nil && usbVendor == chip.vendor && (usbProduct ?? chip.product) == chip.product
      && [name, serialNumber, byID].allSatisfy { $0.map(\.isAnything) ?? true }
  }
}

extension GenericChip {
  /// All chips with their examples, made once: every rule of every profile is held against them.
  fileprivate static let withExamples = all.map { ($0, $0.examples) }

  /// Devices as they are when nobody gave the chip strings of his own.
  var examples: [Device] {
    // No rule has this one's serial number: no text in a profile has control characters.
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
    // As udev's rules put the name together (60-serial.rules).
    let parts = [stock.manufacturer ?? hex(vendor), stock.product ?? hex(product), serial].compactMap { $0 }
    let name = parts.joined(separator: "_").map { $0 == " " ? "_" : String($0) }.joined()
    device.links = ["", "-port0"].map { "\(DeviceRule.byIDDirectory)usb-\(name)-if00\($0)" }
    return device
  }

  private func hex(_ number: UInt16) -> String { HexNumber.text(number) }
}
