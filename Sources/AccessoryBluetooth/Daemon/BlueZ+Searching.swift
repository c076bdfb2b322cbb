// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

extension BlueZ {
  /// The shortest time between two reports of changes in a search. Devices advertise up to fifty times a second.
  private static let searchInterval = Duration.milliseconds(200)

  /// Searches for devices for some time. Calls `changed` on the I/O thread with all devices found so far, and returns them; the
  /// strongest signal comes first. If cancelled, returns the devices found until then.
  ///
  /// Throws `notFound` without an adapter, `misconfigured` when it is off, and `disconnected` when bluetoothd ends.
  package func search(
    _ kind: BluetoothKind, by name: BluetoothAdapterName? = nil, for time: Duration,
    _ changed: @escaping @Sendable ([BluetoothDevice]) -> Void
  ) async throws(AccessoryError) -> [BluetoothDevice] {
    let adapter = try adapter(name)
    let path = name == nil ? nil : adapter.path
    let result = OneShot<Result<Void, AccessoryError>>()
    let isDue = Locked(false)
    let key = observe { event, _ in
      switch event {
      case .gone(let error): result.finish(.failure(error))
      case .changed:
        let isFirst = isDue.withLock { isDue in
          defer { isDue = true }
          return !isDue
        }
        guard isFirst else { return }
        _ = self.io.schedule(at: self.io.now + Self.searchInterval) {
          isDue.withLock { $0 = false }
          self.enter { if result.current == nil { changed(Self.found($0.objects, kind, path)) } }
        }
      case .value, .returned: break
      }
    }
    try await attempt { () throws(AccessoryError) in
      try await startSearching(kind, on: adapter)
    } onFailure: { _ in
      stopObserving(key)
    }
    let timer = io.schedule(at: io.now + time) { result.finish(.success(())) }
    let outcome = await result.value(whenCancelled: .success(()))
    io.cancel(timer)
    stopObserving(key)
    // bluetoothd forgets the signal strengths when the search ends.
    let found = Self.found(objects, kind, path)
    await stopSearching(on: adapter)
    try outcome.get()
    return found
  }

  /// The received devices, and the connected ones, which don't advertise: of the adapter with this path, or of all. A device that
  /// several adapters know is listed once: the connected one, or the one with the strongest signal.
  private static func found(
    _ objects: BluetoothObjects, _ kind: BluetoothKind, _ adapter: String?
  ) -> [BluetoothDevice] {
    let found = objects.devices.values.filter { device in
      device.address != nil && (device.signalStrength != nil || device.isConnected)
        && (kind == .lowEnergy || device.deviceClass != nil) && (adapter == nil || device.adapter == adapter)
    }.sorted { a, b in
      (b.signalStrength ?? .min, a.path) < (a.signalStrength ?? .min, b.path)
    }
    let connected = Set(found.lazy.filter(\.isConnected).map(\.address))
    var seen: Set<BluetoothAddress?> = []
    return found.filter { device in
      (device.isConnected || !connected.contains(device.address)) && seen.insert(device.address).inserted
    }
  }
}
