// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The name of a Bluetooth device, as a user types it: `ble:NAME` or `rfcomm:NAME`, with the name that the user gave it or
/// the one that it tells, whole; and `ble:hci1/NAME` with an adapter. A text that is an address isn't a name.
struct BluetoothName {
  let transport: TransportKind
  let adapter: BluetoothAdapterName?
  /// May be empty: no device has that name.
  let name: String

  init?(_ text: String) {
    guard let transport = [TransportKind.ble, .rfcomm].first(where: { text.hasPrefix($0.rawValue + ":") }),
      DeviceAddress(text) == nil
    else { return nil }
    self.transport = transport
    (adapter, name) = BluetoothAdapterName.prefix(of: String(text.dropFirst(transport.rawValue.utf8.count + 1)))
  }

  /// Whether it is an address with something behind it that no address has: a channel beyond 30, say.
  var isAddress: Bool { name.split(separator: "/").first.map { BluetoothAddress(String($0)) != nil } ?? false }

  func fits(_ device: Device) -> Bool { names(of: device).contains(name) }

  /// Whether it is the name but for capital letters.
  func fitsInOtherCapitals(_ device: Device) -> Bool { inOtherCapitals(device) != nil }

  private func inOtherCapitals(_ device: Device) -> String? {
    names(of: device).first { $0 != name && $0.lowercased() == name.lowercased() }
  }

  private func names(of device: Device) -> [String] {
    guard let bluetooth = device.bluetooth, device.transports.contains(transport) else { return [] }
    return [device.name, bluetooth.toldName].compactMap { $0 }
  }

  /// The error where no device has this name.
  func missing(_ text: String, among devices: [Device]) -> ResolutionError {
    if isAddress { return .malformed(text) }
    guard let name = devices.lazy.compactMap(inOtherCapitals).first else {
      return .missing(text, among: devices)
    }
    return .otherCapitals(text, "\(transport.rawValue):\(adapter.map { "\($0)/" } ?? "")\(name)")
  }

  /// The device with this name; nil when there is none. Anybody can tell any name: one that is connected, paired or trusted
  /// goes before strangers with its name.
  func device(among devices: [Device]) throws(ResolutionError) -> Device? {
    var found = devices.filter(fits)
    let known = found.filter { $0.bluetooth?.isKnown == true }
    if !known.isEmpty { found = known }
    guard let device = found.first else { return nil }
    guard found.count == 1 else { throw .ambiguous("\(transport.rawValue):\(name)", found) }
    return (device.choosing(transport) ?? device).by(adapter)
  }
}
