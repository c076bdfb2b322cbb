// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

/// Finds devices of Bluetooth Classic for the picker. It connects none of them, except the one that was picked.
struct BluetoothPicker: Sendable {
  /// How to reach bluetoothd.
  var place = BluetoothPlace.usual
  /// How long it searches: an inquiry of Bluetooth Classic takes ten seconds.
  var time = Duration.seconds(12)
  /// Connects the device for a moment, and so finds out whether it is there. Throws the errors of connecting.
  var reach: @Sendable (DeviceOpener) async throws(AccessoryError) -> Void = { opener throws(AccessoryError) in
    // Nothing is sent.
    let transport = try await opener.unguardedTransport()
    await transport.close()
  }

  /// The devices that were received, the nearest first; none if this computer has no Bluetooth. Throws `misconfigured`
  /// when the adapter is off, and the errors of calls to bluetoothd.
  func search() async throws(AccessoryError) -> [Device] {
    guard place.hasAdapter else { return [] }
    let bluez = try await BlueZ.open(place.bus)
    return try await attempt { () throws(AccessoryError) in
      let found = try await bluez.search(.classic, for: time) { _ in }
      let objects = await bluez.objects
      return found.compactMap { Self.port(of: $0, in: objects) }
    } finally: {
      // The search ends with the conversation.
      await bluez.close()
    }
  }

  /// The device by its serial port of Bluetooth Classic, also where it has one of Bluetooth Low Energy.
  private static func port(of found: BluetoothDevice, in objects: BluetoothObjects) -> Device? {
    guard let address = found.address, var device = Device(found, in: objects) else { return nil }
    device.address = .rfcomm(address, channel: nil)
    return device
  }
}
