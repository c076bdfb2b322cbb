// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

// Reads how the accessories of a protocol look on the air.
extension DescriptionReader {
  private static let bluetoothLimit = 64

  mutating func bluetooth(_ node: YAMLNode) -> ProtocolDescription.Bluetooth? {
    guard let fields = keys(node, DescriptionKeys.bluetooth) else { return nil }
    var bluetooth = ProtocolDescription.Bluetooth()
    bluetooth.service = bluetoothUUID(fields, "service")
    // Many kinds of devices have the same services: one alone says nothing here.
    if fields["name"] != nil || fields["manufacturer"] != nil { bluetooth.looks = [look(fields)] }
    for node in fields["looks"].map({ oneOrMore($0, "looks", limit: Self.bluetoothLimit) }) ?? [] {
      guard let fields = keys(node, DescriptionKeys.looks) else { continue }
      if fields.isEmpty {
        report(node.mark, "this fits every device: say what they tell, as in {name: JBD-*, service: ff00}")
      }
      bluetooth.looks.append(look(fields))
    }
    bluetooth.write = bluetoothUUID(fields, "write")
    bluetooth.notify = bluetoothUUID(fields, "notify")
    if let node = fields["greet"] { greeting(node, &bluetooth) }
    return bluetooth
  }

  private mutating func look(_ fields: KeyedNodes) -> ProtocolDescription.Bluetooth.Look {
    var look = ProtocolDescription.Bluetooth.Look()
    for node in fields["name"].map({ oneOrMore($0, "names", limit: Self.bluetoothLimit) }) ?? [] {
      guard let name = text(node, "a name, in which * stands for any characters and ? for one,", limit: 64) else {
        continue
      }
      if TextPattern(name).isAnything { report(node.mark, "this name fits every device") }
      look.names.append(name)
    }
    for node in fields["manufacturer"].map({ oneOrMore($0, "manufacturers", limit: Self.bluetoothLimit) }) ?? [] {
      guard let number = integer(node, "the number of a company", 0...0xFFFF) else { continue }
      look.manufacturers.append(UInt16(clamping: number))
    }
    for node in fields["address"].map({ oneOrMore($0, "beginnings of addresses", limit: Self.bluetoothLimit) }) ?? [] {
      guard let said = text(node, "the beginning of an address, in quotes,", limit: 17) else { continue }
      let pairs = said.split(separator: ":", omittingEmptySubsequences: false)
      let bytes = pairs.compactMap { $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil }
      guard bytes.count == pairs.count, 1...6 ~= bytes.count else {
        report(node.mark, "this isn't the beginning of an address: write it as in \"A5:C2:37\"")
        continue
      }
      look.addresses.append(bytes)
    }
    if let node = fields["data"] {
      look.data = bytes(fields, "data") ?? []
      if look.manufacturers.isEmpty { report(node.mark, "data are those of a company: say manufacturer, too") }
    }
    look.service = bluetoothUUID(fields, "service")
    return look
  }

  private mutating func greeting(_ node: YAMLNode, _ bluetooth: inout ProtocolDescription.Bluetooth) {
    guard let fields = keys(node, DescriptionKeys.greet) else { return }
    bluetooth.greetingCharacteristic = bluetoothUUID(fields, "characteristic")
    bluetooth.greetingBytes = bytes(fields, "send") ?? []
  }
}
