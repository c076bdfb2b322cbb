// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

// Reads how the accessories of a protocol look on the air.
extension DescriptionReader {
  private static let bluetoothLimit = 32

  mutating func bluetooth(_ node: YAMLNode) -> ProtocolDescription.Bluetooth? {
    guard let fields = fields(node, "bluetooth", DescriptionKeys.bluetooth) else { return nil }
    var bluetooth = ProtocolDescription.Bluetooth()
    for node in fields["name"].map({ oneOrMore($0, "names", limit: Self.bluetoothLimit) }) ?? [] {
      guard let name = text(node, "a name, in which * stands for any characters,", limit: 64) else { continue }
      if TextPattern(name).isAnything { report(node.mark, "this name fits every device") }
      bluetooth.names.append(name)
    }
    for node in fields["manufacturer"].map({ oneOrMore($0, "manufacturers", limit: Self.bluetoothLimit) }) ?? [] {
      guard let number = integer(node, "the number of a company", 0...0xFFFF) else { continue }
      bluetooth.manufacturers.append(UInt16(clamping: number))
    }
    bluetooth.service = fields["service"].flatMap { bluetoothUUID($0, "service") }
    bluetooth.write = fields["write"].flatMap { bluetoothUUID($0, "write") }
    bluetooth.notify = fields["notify"].flatMap { bluetoothUUID($0, "notify") }
    if let node = fields["greet"] { greeting(node, &bluetooth) }
    return bluetooth
  }

  private mutating func greeting(_ node: YAMLNode, _ bluetooth: inout ProtocolDescription.Bluetooth) {
    guard let fields = fields(node, "greet", DescriptionKeys.greet) else { return }
    guard let characteristic = fields["characteristic"], let send = fields["send"] else {
      return report(node.mark, "greet needs a characteristic and what it is told: {characteristic: fffa, send: 01}")
    }
    bluetooth.greetingCharacteristic = bluetoothUUID(characteristic, "characteristic")
    bluetooth.greetingBytes = bytes(send, "send", limit: GATTGreeting.packetSize) ?? []
  }
}
