// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// Collects the devices that a search receives for a wish, and decides when they are enough.
final class BluetoothHearing: Sendable {
  private let wish: DeviceWish
  private let heard = Locked<[DeviceAddress: Device]>([:])
  private let over = OneShot<Void>()

  /// How long to keep receiving a device that was found by its address. Its data may come in several packets.
  private static let rest = Duration.milliseconds(1_500)

  init(_ wish: DeviceWish) { self.wish = wish }

  /// Takes the newest state of a device.
  func take(_ device: Device, on io: IOThread) {
    guard device.bluetooth?.isInReach == true, wish.fits(device) else { return }
    let isFirst = heard.withLock { heard in
      defer { heard[device.address] = device }
      return heard.isEmpty
    }
    guard wish.address != nil else { return }
    if device.tellsEverything { return end() }
    if isFirst { _ = io.schedule(at: io.now + Self.rest) { self.end() } }
  }

  /// Ends the wait, because the search has ended.
  func end() { over.finish(()) }

  /// Waits until the received devices are enough or the time is up, and returns them, sorted by address.
  func devices(within limit: Duration, on io: IOThread) async -> [Device] {
    let timer = io.schedule(at: io.now + limit) { self.end() }
    await over.value(whenCancelled: ())
    io.cancel(timer)
    return heard.withLock { $0.values.sorted { $0.address < $1.address } }
  }
}

extension Device {
  /// Whether any of its advertised data is known.
  var tellsSomething: Bool {
    bluetooth.map { $0.toldName != nil || !$0.services.isEmpty || !$0.manufacturers.isEmpty } ?? false
  }

  /// Whether all the advertised data is known by which profiles recognize devices.
  fileprivate var tellsEverything: Bool {
    bluetooth.map { $0.toldName != nil && !$0.services.isEmpty && !$0.manufacturers.isEmpty } ?? false
  }
}
