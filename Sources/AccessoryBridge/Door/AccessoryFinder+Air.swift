// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO

// Devices on the air that a service is about to connect. If a program connects one first, the service can't for seconds: BlueZ gives
// a device's bytes to one program at a time, and takes two seconds to end a connection.

extension AccessoryFinder {
  /// How long a service may take to list a device that it has received, and the age at which it has listed all devices that BlueZ
  /// knows.
  private static let listing = (limit: Duration.seconds(3), age: Duration.seconds(8))

  /// The accessory in the service that is about to open it; nil if this program may open it.
  ///
  /// A service connects by itself what a profile with `connect: allowed` claims. Soon after its start it lists all such devices that
  /// BlueZ knows; others it finds when somebody searches. A device that it doesn't list then isn't going to be connected, for example
  /// because somebody has detached it.
  func soonHeld(_ own: OwnAccessory, _ name: DeviceName) async throws -> (any FoundAccessory)? {
    let device = own.device
    guard device.address.transport.isBluetooth, own.opener.profile?.allowsConnecting == true else { return nil }
    guard let age = await ageOfServices() else { return nil }
    // If the search hasn't found it, there is nothing to wait for, and opening it reports why.
    guard let bluetooth = device.bluetooth, !bluetooth.isKnown || age <= Self.listing.age else { return nil }
    let arrivals = ServiceArrivals(of: services, clock: clock)
    let timer = clock.schedule(at: clock.now + Self.listing.limit) { arrivals.stop() }
    defer {
      clock.cancel(timer)
      arrivals.stop()
    }
    for await _ in arrivals.signals {
      if let held = try await held(name) { return held }
    }
    return nil
  }

  /// How long the youngest service has run; nil if there is none.
  private func ageOfServices() async -> Duration? {
    var youngest: Duration?
    for place in services {
      guard let client = try? await ServiceEntry.connect(to: place, replyTimeout: listTimeout),
        let reply = try? await client.service()
      else { continue }
      let age = Duration.milliseconds(reply.uptime_ms)
      youngest = min(youngest ?? age, age)
    }
    return youngest
  }
}
