// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDescriptions
import AccessoryDiscovery
import AccessoryProtocols

extension ProtocolDescription.Bluetooth {
  /// The characteristics that carry the bytes. Nothing is named where a description doesn't say them, and they are found by themselves.
  var gatt: GATTSettings {
    var settings = write != nil || notify != nil ? GATTSettings(write: write, notify: notify) : GATTSettings()
    settings.greeting = greetingCharacteristic.map { GATTSettings.Greeting($0, greetingBytes) }
    return settings
  }

  /// What `device` tells that accessories of this protocol tell; nil where it looks like none of them.
  func look(of device: Device) -> Look? { looks.first { $0.fits(device) } }
}

extension ProtocolDescription.Bluetooth.Look {
  fileprivate func fits(_ device: Device) -> Bool {
    guard let told = device.bluetooth else { return false }
    let patterns = names.map { TextPattern($0, questionMarks: true) }
    guard
      names.isEmpty
        || [told.toldName, device.name].contains(where: { name in
          name.map { name in patterns.contains { $0.fits(name) } } ?? false
        }
        )
    else { return false }
    guard addresses.isEmpty || addresses.contains(where: told.address.bytes.starts) else { return false }
    guard
      manufacturers.isEmpty
        || manufacturers.contains(where: {
          told.manufacturers.contains($0) && (data.isEmpty || told.manufacturerData[$0]?.starts(with: data) == true)
        })
    else { return false }
    return service.map(told.services.contains) ?? true
  }
}
