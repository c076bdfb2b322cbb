// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import Console

/// The facts about a device that is not opened, for people.
enum DeviceView {
  /// `driver` is the name of the device's driver; nil when none is known.
  static func facts(_ device: Device, driver: String?, _ access: PortAccess? = nil) -> [(String, String)] {
    let links = ([device.link].compactMap { $0 } + device.links).map { SafeText.escape($0, limit: 200) }
    var rows: [(String, String)] = []
    if let name = device.given?.name { rows.append(("Called", SafeText.escape(name, limit: 128))) }
    if let area = device.given?.area { rows.append(("Area", SafeText.escape(area, limit: 128))) }
    rows += [("Path", SafeText.escape(device.address.description))]
    if let unit = device.unit { rows.append(("Unit", "\(unit)")) }
    rows += links.enumerated().map { ($0.offset == 0 ? "Link" : "", $0.element) }
    rows.append(("Source", device.source.rawValue))
    rows.append(("Driver", driver.map { SafeText.escape($0) } ?? "none is known"))
    if let usb = device.usb { rows += facts(usb, device) }
    if let bluetooth = device.bluetooth { rows += facts(bluetooth, device) }
    if let access {
      rows.append(("Permission", access.refusal.map { SafeText.escape($0.message, limit: 400) } ?? "you may open it"))
      rows.append(("Holder", access.holder.map { SafeText.escape($0) } ?? "nobody, as far as you can see"))
    }
    return rows
  }

  private static func facts(_ bluetooth: BluetoothIdentity, _ device: Device) -> [(String, String)] {
    let names = [device.name, bluetooth.toldName == device.name ? nil : bluetooth.toldName].compactMap { $0 }
    let states = [
      (bluetooth.isConnected, "connected"), (bluetooth.isPaired, "paired"), (bluetooth.isTrusted, "trusted"),
    ].filter(\.0).map(\.1)
    var rows = [
      ("Bluetooth", ([bluetooth.address.description] + names.map { SafeText.escape($0) }).joined(separator: "  ")),
      ("Adapter", SafeText.escape(bluetooth.adapter)),
      ("Ways in", device.transports.map(\.rawValue).joined(separator: ", ")),
      ("State", (states.isEmpty ? ["not connected"] : states).joined(separator: ", ")),
    ]
    let services = bluetooth.services.map(\.description)
    rows.append(("Services", services.isEmpty ? "none is known" : services.joined(separator: ", ")))
    if let signal = bluetooth.signalStrength { rows.append(("Signal", "\(signal) dBm")) }
    let makers = bluetooth.manufacturers.map { "0x" + Hexadecimal.string($0) }
    if !makers.isEmpty { rows.append(("Data of", makers.joined(separator: ", "))) }
    return rows
  }

  private static func facts(_ usb: USBIdentity, _ device: Device) -> [(String, String)] {
    let names = [device.manufacturer, device.name].compactMap { $0 }.map { SafeText.escape($0) }
    let speed = usb.speed.map { ", \(DecimalText.short($0)) Mbit/s" } ?? ""
    var rows = [
      ("USB", ([usb.product] + names).joined(separator: "  ")),
      ("Place", "port \(SafeText.escape(usb.port)), \(SafeText.escape(usb.node))\(speed)"),
      ("Ways in", device.transports.isEmpty ? "none" : device.transports.map(\.rawValue).joined(separator: ", ")),
    ]
    for interface in usb.interfaces { rows += facts(interface) }
    if let damage = usb.damage { rows.append(("Descriptors", damage)) }
    return rows
  }

  private static func facts(_ interface: USBInterface) -> [(String, String)] {
    let description = interface.description
    let function = description.function
    let numbers = [function.code, function.subclass, function.protocol].map { Hexadecimal.string([$0]) }.joined(
      separator: "/")
    let driver = interface.driver.map { "driver " + SafeText.escape($0) } ?? "no driver"
    let setting = description.alternateSetting == 0 ? "" : ", setting \(description.alternateSetting)"
    let name = function.name.map { "\($0) \(numbers)" } ?? numbers
    return [("Interface \(description.number)", "\(name)\(setting), \(driver)")]
      + description.endpoints.map { endpoint in
        (
          "",
          "endpoint \(Hexadecimal.string([endpoint.address])) \(endpoint.direction.rawValue.uppercased()), "
            + "\(endpoint.transfer.rawValue), packets of \(endpoint.maxPacketSize) bytes"
        )
      }
  }
}
