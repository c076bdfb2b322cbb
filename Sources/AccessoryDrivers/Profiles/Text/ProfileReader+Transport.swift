// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

extension ProfileReader {
  /// Reads the transport's settings. What the text leaves out stays as it is in `settings`.
  mutating func transport(_ node: YAMLNode, from settings: TransportSettings) -> TransportSettings {
    var settings = settings
    guard let fields = keys(node, ProfileKeys.transport) else { return settings }
    settings.preferredTransport = choice(fields, "prefer")
    if let node = fields["tty"] { settings.terminal = terminal(node, "tty", from: settings.terminal) }
    if let node = fields["usb"] { settings.usb = usb(node) }
    if let node = fields["adapter"] { settings.bluetoothAdapter = adapter(node) }
    if let node = fields["ble"] {
      settings.gatt = gatt(node)
      settings.advertisementKey = advertisementKey(node)
    }
    if let node = fields["rfcomm"], let fields = keys(node, ProfileKeys.rfcomm) {
      settings.rfcommChannel = number(fields, "channel")
    }
    if let node = fields["esphome"], let fields = keys(node, ProfileKeys.esphome) {
      settings.nodeKeyFile = fields["key_file"].flatMap { keyFile($0) }
    }
    return settings
  }

  private mutating func usb(_ node: YAMLNode) -> USBSettings {
    var settings = USBSettings()
    guard let fields = keys(node, ProfileKeys.usb) else { return settings }
    settings.interface = number(fields, "interface")
    settings.alternateSetting = number(fields, "alternate")
    settings.shape = choice(fields, "shape")
    if let node = fields["endpoints"], let pair = keys(node, ProfileKeys.endpoints) {
      settings.inEndpoint = pair["in"].flatMap { endpoint($0, "in", 0x81...0x8F) }
      settings.outEndpoint = pair["out"].flatMap { endpoint($0, "out", 0x01...0x0F) }
    }
    return settings
  }

  private mutating func adapter(_ node: YAMLNode) -> BluetoothAdapterName? {
    if case .scalar(let text) = node.content, let name = BluetoothAdapterName(text) { return name }
    report(
      node.mark,
      "adapter must be the name of a Bluetooth adapter, like hci1, or its address, like 00:1A:7D:DA:71:13, not "
        + kind(node))
    return nil
  }

  private mutating func gatt(_ node: YAMLNode) -> GATTSettings {
    guard let fields = keys(node, ProfileKeys.ble) else { return GATTSettings() }
    var settings = GATTSettings(
      service: bluetoothUUID(fields, "service"), write: bluetoothUUID(fields, "write"),
      notify: bluetoothUUID(fields, "notify"))
    settings.password = fields["password"].flatMap { password($0) }
    return settings
  }

  private mutating func password(_ node: YAMLNode) -> String? {
    if case .scalar(let text) = node.content, GATTGreeting.isPassword(text) { return text }
    report(
      node.mark,
      "password must be 1 to \(GATTGreeting.passwordLimit) printable ASCII characters without blanks, not \(kind(node))"
    )
    return nil
  }

  private mutating func endpoint(_ node: YAMLNode, _ what: String, _ range: ClosedRange<UInt8>) -> UInt8? {
    if case .scalar(let text) = node.content, let address: UInt8 = HexNumber.read(text), range.contains(address) {
      return address
    }
    let bounds = "0x\(HexNumber.text(range.lowerBound)) to 0x\(HexNumber.text(range.upperBound))"
    report(node.mark, "\(what) must be an endpoint's address, \(bounds) in hexadecimal, not \(kind(node))")
    return nil
  }
}

extension ProfileReader {
  /// Reads the key of what a device advertises.
  private mutating func advertisementKey(_ node: YAMLNode) -> AdvertisementKey? {
    // Errors of the mapping itself are reported where its other keys are read.
    guard case .mapping(let entries) = node.content else { return nil }
    let (key, file) = (entries.first { $0.key == "key" }, entries.first { $0.key == "key_file" })
    if key != nil, let file { report(file.mark, "key and key_file say the same: leave one out") }
    if let key {
      if case .scalar(let text) = key.value.content, let key = AdvertisementKey(text) { return key }
      // It isn't shown: most of it may be right.
      report(key.value.mark, "key must be 32 hexadecimal digits")
    } else if let file {
      return keyFile(file.value).map { .file($0) }
    }
    return nil
  }

  private mutating func keyFile(_ node: YAMLNode) -> String? {
    if case .scalar(let path) = node.content, path.hasPrefix("/") { return path }
    report(node.mark, "key_file must be a file's absolute path, not \(kind(node))")
    return nil
  }
}
