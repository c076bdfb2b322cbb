// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

extension ProfileReader {
  /// Reads one rule, or a list of rules.
  mutating func rules(_ node: YAMLNode) -> [DeviceRule] {
    guard case .sequence = node.content else { return [rule(node)].compactMap { $0 } }
    return (list(node, "rules", limit: Self.ruleLimit) ?? []).compactMap { rule($0) }
  }

  private mutating func rule(_ node: YAMLNode) -> DeviceRule? {
    let before = problems.count
    guard let fields = keys(node, ProfileKeys.rule) else { return nil }
    var rule = DeviceRule()
    if let usb = fields["usb"] { usbNumbers(usb, &rule) }
    if let node = fields["bluetooth"] {
      rule.bluetooth = bluetooth(node)
      if fields.count > 1 {
        report(node.mark, "bluetooth is alone in its rule: put name, service, manufacturer and address inside it")
        return nil
      }
    }
    rule.hidUsage = fields["hid"].flatMap { hidUsage($0) }
    rule.driver = text(fields, "driver")
    rule.name = fields["name"].flatMap { pattern($0) }
    rule.manufacturer = fields["manufacturer"].flatMap { pattern($0) }
    rule.model = fields["model"].flatMap { pattern($0) }
    rule.serialNumber = fields["serial"].flatMap { pattern($0) }
    rule.byID = fields["by_id"].flatMap { byID($0) }
    rule.path = fields["path"].flatMap { path($0) }
    // Checked only without other errors, because a part that couldn't be read might make the rule specific enough.
    if problems.count == before, let overreach = rule.overreachProblem { report(node.mark, overreach) }
    return rule
  }

  private mutating func usbNumbers(_ node: YAMLNode, _ rule: inout DeviceRule) {
    guard let fields = keys(node, ProfileKeys.ruleUSB) else { return }
    rule.usbVendor = fields["vendor"].flatMap { hexadecimal($0, "a vendor") }
    rule.usbProduct = fields["product"].flatMap { hexadecimal($0, "a product") }
    rule.interfaceClass = fields["interface_class"].flatMap { hexadecimal($0, "an interface class") }
    if let product = fields["product"], fields["vendor"] == nil {
      report(
        product.mark, "a product number needs a vendor number: add vendor (the product string is name, outside usb)")
    }
  }

  private mutating func hidUsage(_ node: YAMLNode) -> HIDUsage? {
    if case .scalar(let text) = node.content {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      if parts.count == 2, parts.allSatisfy({ $0.count == 4 }), let page = UInt16(parts[0], radix: 16),
        let id = UInt16(parts[1], radix: 16)
      {
        return HIDUsage(page: page, id: id)
      }
    }
    report(
      node.mark, "hid must be a page and a usage in hexadecimal, like 0084:0004 for a UPS, not \(kind(node))")
    return nil
  }

  private mutating func bluetooth(_ node: YAMLNode) -> BluetoothRule? {
    guard let fields = keys(node, ProfileKeys.ruleBluetooth) else { return nil }
    var rule = BluetoothRule()
    rule.address = fields["address"].flatMap { bluetoothAddress($0) }
    rule.name = fields["name"].flatMap { pattern($0) }
    rule.service = bluetoothUUID(fields, "service")
    rule.manufacturer = fields["manufacturer"].flatMap { company($0) }
    return rule
  }

  private mutating func bluetoothAddress(_ node: YAMLNode) -> BluetoothAddress? {
    if case .scalar(let text) = node.content, let address = BluetoothAddress(text) { return address }
    report(node.mark, "address must be a Bluetooth address, like A5:C2:37:00:11:22, not \(kind(node))")
    return nil
  }

  private mutating func company(_ node: YAMLNode) -> UInt16? {
    if case .scalar(let text) = node.content, let number: UInt16 = HexNumber.read(text) { return number }
    report(
      node.mark,
      "manufacturer must be a company's number in hexadecimal, as bridge-cli bluetooth scan shows it, like 0x004c, not "
        + "\(kind(node))")
    return nil
  }

  private mutating func pattern(_ node: YAMLNode) -> TextPattern? {
    text(node, "a text, in which * stands for any characters,", limit: 256).map { TextPattern($0) }
  }

  private mutating func byID(_ node: YAMLNode) -> TextPattern? {
    guard let pattern = pattern(node) else { return nil }
    guard !pattern.text.contains("/") else {
      report(node.mark, "by_id must be a name in /dev/serial/by-id without the directory, like usb-Acme_Gadget_*-if00")
      return nil
    }
    return pattern
  }

  private mutating func path(_ node: YAMLNode) -> String? {
    guard let path = text(node, "a path", limit: 256) else { return nil }
    if let address = DeviceAddress(path), address.transport.isNetwork { return address.description }
    guard path.hasPrefix("/dev/"), !path.contains("*") else {
      report(
        node.mark,
        "path must be an absolute path, like /dev/ttyS0 or /dev/serial/by-path/NAME, or an address, like tcp:HOST:PORT, without *"
      )
      return nil
    }
    return path
  }
}
