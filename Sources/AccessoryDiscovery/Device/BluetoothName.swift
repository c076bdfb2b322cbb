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

  func fits(_ device: Device) -> Bool {
    guard let bluetooth = device.bluetooth, device.transports.contains(transport) else { return false }
    return device.name == name || bluetooth.toldName == name
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
