// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension NativePort {
  /// A port whose line is there.
  package init(_ name: String, _ device: Device) {
    let node = device.terminal ?? device.address.node ?? ""
    let isTerminal = device.address.transport == .terminal && !node.hasPrefix("/dev/pts/")
    self.init(
      name: name, kind: device.usb != nil ? .usb : node.hasPrefix("/dev/ttyS") ? .rs232 : .ttl,
      hasModemLines: isTerminal || [.rfc2217, .esphome].contains(device.address.transport),
      usb: device.usb.map { USB($0, device) })
  }
}

extension NativePort.USB {
  /// What clients make a port's name below `/dev/serial/by-id` of. The numbers at its end are taken from that name, where udev has made
  /// one.
  init(_ usb: USBIdentity, _ device: Device) {
    let link = device.links.first { $0.hasPrefix("/dev/serial/by-id/") } ?? ""
    // …-if00, or …-if00-port0
    let ends = link.split(separator: "-").suffix(2)
    let told = ends.last { $0.hasPrefix("if") }.flatMap { UInt8($0.dropFirst(2), radix: 16) }
    let interface = told ?? usb.terminalInterface ?? usb.interfaces.first?.description.number ?? 0
    let port = ends.last { $0.hasPrefix("port") }.flatMap { Int($0.dropFirst(4)) } ?? 0
    let function = usb.interfaces.first { $0.description.number == interface }?.description.function
    self.init(
      manufacturer: device.manufacturer ?? "", product: device.name ?? "", serial: device.serialNumber ?? "",
      vendorID: usb.vendorID, productID: usb.productID, version: usb.release ?? 0, interface: interface,
      interfaceClass: (function ?? usb.function).code, portNumber: port)
  }
}
