// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The reason why a text that a user typed doesn't name exactly one device.
public enum ResolutionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No text was given, and no accessory is present.
  case noDevices
  /// Neither an accessory nor a file has this name. These names of accessories are like it.
  case noMatch(String, like: [String] = [])
  /// No device on the air has this name, but one has it with other capital letters, which is the second text.
  case otherCapitals(String, String)
  /// The text begins with `usb:`, and isn't a valid USB name; or with `ble:` or `rfcomm:` and an address, with more behind it;
  /// or with `esphome:`, and isn't a place.
  case malformed(String)
  /// The path leads to a regular file or a folder, which can't be a device.
  case noDevice(String, kind: String)
  /// The line has no such unit; the devices are the units that it has.
  case noUnit(Int, [Device])
  /// Several devices match; the text is nil when none was given.
  case ambiguous(String?, [Device])

  /// What happened, and what to do.
  public var description: String {
    switch self {
    case .noDevices:
      "no accessory found: plug one in, name its port (/dev/ttyUSB0), or start a simulator: bridge-cli simulate framed"
    case .noMatch(let text, let names) where BluetoothName(text) != nil:
      "no Bluetooth device with the name of \(text) is known here, or was found: \(Self.question(text, names))"
        + "is it on, and near enough? bridge-cli bluetooth scan shows the devices"
    case .noMatch(let text, let names):
      "there is no accessory \(text)\(text.contains("/") ? ", and no such file" : ""): \(Self.question(text, names))"
        + "bridge-cli list shows all accessories"
    case .otherCapitals(let text, let other):
      "no Bluetooth device has the name of \(text), but one has it with other capital letters: write \(other)"
    case .malformed(let text) where text.hasPrefix(TransportKind.rfcomm.rawValue):
      "\(text) is not the address of a serial port: write rfcomm:AA:BB:CC:DD:EE:FF, or rfcomm:AA:BB:CC:DD:EE:FF/3 with a "
        + "channel from 1 to 30"
    case .malformed(let text) where BluetoothName(text) != nil:
      "\(text) is not the address of a device: write ble:AA:BB:CC:DD:EE:FF, or ble:hci1/AA:BB:CC:DD:EE:FF with an adapter"
    case .malformed(let text) where text.hasPrefix(TransportKind.esphome.rawValue):
      // Other programs have the key behind the question mark.
      "\(text.prefix { $0 != "?" })\(text.contains("?") ? "?…" : "") is not the address of an ESPHome node's serial port: write "
        + "esphome://HOST, or esphome://HOST:6053/PORT "
        + "with the number or the name of the port; the key comes from a file (--key-file)"
    case .malformed(let text):
      "\(text) is not a USB device name: write usb:VENDOR:PRODUCT or usb:VENDOR:PRODUCT:SERIAL, with hexadecimal "
        + "numbers for vendor and product, like usb:2341:0043"
    case .noUnit(let unit, let devices):
      "there is no unit \(unit) on \(devices.first?.line.id ?? "the line"); its units are "
        + devices.compactMap(\.unit).sorted().map(String.init).joined(separator: ", ")
    case .noDevice(let text, let kind):
      "\(text) is not a device: it is a \(kind). bridge-cli list shows all accessories"
    case .ambiguous(let text, let devices) where Self.areUnits(devices):
      "there are several accessories on \(text ?? "the line"), say which: \(Self.names(devices))"
    case .ambiguous(nil, let devices):
      "there are \(devices.count) accessories, say which: \(Self.names(devices))"
    case .ambiguous(let text?, let devices) where BluetoothName(text) != nil:
      "\(devices.count) devices have the name of \(text), and anybody can tell any name: name one by its address: "
        + Self.names(devices)
    case .ambiguous(let text?, let devices):
      "\(text) matches \(devices.count) accessories, write more of the name: \(Self.names(devices))"
    }
  }

  /// The error where none of these devices has the name.
  package static func missing(_ text: String, among devices: [Device]) -> ResolutionError {
    let paths = text.contains("/") ? devices.map(\.address.description) : []
    let told = devices.compactMap { device in device.bluetooth.flatMap { $0.toldName ?? device.name } }
    let names =
      BluetoothName(text).map { name in told.map { "\(name.transport.rawValue):\($0)" } }
      ?? devices.flatMap { [$0.id, $0.serialNumber].compactMap(\.self) } + paths
    return .noMatch(text, like: NearestWord.find(text, among: names.sorted())?.likely ?? [])
  }

  private static func question(_ text: String, _ names: [String]) -> String {
    NearestWord.find(text, among: names)?.question.map { $0 + " " } ?? ""
  }

  /// The matching accessories, if all of them are on one line.
  package var unitsOfALine: [Device]? {
    if case .ambiguous(_, let devices) = self, Self.areUnits(devices) { devices } else { nil }
  }

  /// Whether all devices are units of one line.
  private static func areUnits(_ devices: [Device]) -> Bool {
    devices.allSatisfy { $0.unit != nil && $0.line == devices.first?.line }
  }

  /// The ids of the devices. Where several have the same id, the address follows.
  private static func names(_ devices: [Device]) -> String {
    let namesakes = Dictionary(grouping: devices, by: \.id)
    let sorted = devices.sorted {
      ($0.line.id, $0.address.description, $0.unit ?? -1) < ($1.line.id, $1.address.description, $1.unit ?? -1)
    }
    let names = sorted.map { device in
      namesakes[device.id]?.count == 1 ? device.id : "\(device.id) at \(device.address)"
    }
    return (names.count > 20 ? names.prefix(20) + ["…"] : names).joined(separator: ", ")
  }
}
