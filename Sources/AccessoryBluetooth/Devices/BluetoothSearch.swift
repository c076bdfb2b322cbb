// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// A search that can find the devices of all these wishes.
struct BluetoothSearch: Sendable, Equatable {
  let kind: BluetoothKind
  /// The services to search for; empty if any wish names none.
  let services: [BluetoothUUID]
  /// The adapters that search; nil stands for the default one.
  let adapters: Set<BluetoothAdapterName?>

  /// How long a search lasts, and the first and the longest pause between searches. Each pause is twice as long as the one before.
  struct Times: Sendable {
    var search = Duration.seconds(10)
    var pause = Duration.seconds(5)
    var longestPause = Duration.seconds(60)
  }

  /// A search for these wishes; nil if there are none.
  init?(_ wishes: [DeviceWish]) {
    guard !wishes.isEmpty else { return nil }
    let kinds = Set(wishes.map(\.transport))
    kind = kinds == [.ble] ? .lowEnergy : kinds == [.rfcomm] ? .classic : .any
    adapters = Set(wishes.map(\.adapter))
    let services = wishes.map(\.service)
    self.services = services.contains(nil) ? [] : Set(services.compactMap { $0 }).sorted()
  }
}
