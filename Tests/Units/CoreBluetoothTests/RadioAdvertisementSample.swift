// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore

enum RadioAdvertisementSample {
  /// An advertisement with everything in it, and data of two manufacturers.
  static let whole = RadioAdvertisement(
    RadioPeer(name: "sample"), name: "HMSoft", strength: -60, services: [BluetoothUUID("ffe0")!],
    manufacturerData: [0x004C: [1, 2], 0x0059: [3]], serviceData: [BluetoothUUID("180f")!: [50]], power: -4)
}
