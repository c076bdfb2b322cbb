// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import AccessoryProtocols

extension ProtocolDescription.Bluetooth {
  /// The characteristics that carry the bytes. Nothing is named where a description doesn't say them, and they are found by themselves.
  var gatt: GATTSettings {
    var settings = write != nil || notify != nil ? GATTSettings(write: write, notify: notify) : GATTSettings()
    settings.greeting = greetingCharacteristic.map { GATTSettings.Greeting($0, greetingBytes) }
    return settings
  }

  /// Whether `device` looks like this: its name is one of these, if there are any, it sends data of one of these companies, if there are
  /// any, and it tells the service. A description that says neither name nor company fits nothing: many kinds have the same services.
  func fits(_ device: Device) -> Bool {
    guard !names.isEmpty || !manufacturers.isEmpty, let told = device.bluetooth else { return false }
    if !names.isEmpty {
      let patterns = names.map { TextPattern($0) }
      guard
        [told.toldName, device.name].contains(where: { name in
          name.map { name in patterns.contains { $0.fits(name) } } ?? false
        })
      else { return false }
    }
    if !manufacturers.isEmpty, !manufacturers.contains(where: told.manufacturers.contains) { return false }
    return service.map(told.services.contains) ?? true
  }
}
