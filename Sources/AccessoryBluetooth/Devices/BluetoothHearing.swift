// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// What a search has heard so far of the devices that somebody wishes for, and when that is enough.
final class BluetoothHearing: Sendable {
  private let wish: DeviceWish
  private let heard = Locked<[DeviceAddress: Device]>([:])
  private let over = OneShot<Void>()

  /// How long a device is listened to that was heard by its address. What it tells may come in several packets.
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

  /// Nothing more is heard.
  func end() { over.finish(()) }

  /// What was heard, sorted by address, when it is enough or the time is over.
  func devices(within limit: Duration, on io: IOThread) async -> [Device] {
    let timer = io.schedule(at: io.now + limit) { self.end() }
    await over.value(whenCancelled: ())
    io.cancel(timer)
    return heard.withLock { $0.values.sorted { $0.address < $1.address } }
  }
}

extension Device {
  /// Whether anything is known that it tells on the air.
  var tellsSomething: Bool {
    bluetooth.map { $0.toldName != nil || !$0.services.isEmpty || !$0.manufacturers.isEmpty } ?? false
  }

  /// Whether all is known by which kinds of devices are known.
  fileprivate var tellsEverything: Bool {
    bluetooth.map { $0.toldName != nil && !$0.services.isEmpty && !$0.manufacturers.isEmpty } ?? false
  }
}
