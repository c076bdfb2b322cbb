// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO

// Devices on the air that a service is about to connect. A program that connects one first has it from the service for
// seconds: BlueZ lets only one program have a device's bytes, and takes two seconds to end a connection.

extension AccessoryFinder {
  /// How long a service may take to list a device that it has heard of, and how old it must be to have listed all that
  /// BlueZ knows.
  private static let listing = (limit: Duration.seconds(3), age: Duration.seconds(8))

  /// The accessory in the service that is about to open it; nil where this program may open it.
  ///
  /// A service connects by itself what a profile with `connect: allowed` claims. It knows soon after its start all such devices
  /// that BlueZ knows; others it hears when somebody searches. A device that it doesn't list then is one that it isn't going
  /// to connect: somebody has detached it, say.
  func soonHeld(_ own: OwnAccessory, _ name: DeviceName) async throws -> (any FoundAccessory)? {
    let device = own.device
    guard device.address.transport.isBluetooth, own.opener.profile?.allowsConnecting == true else { return nil }
    guard let age = await ageOfServices() else { return nil }
    // Where it isn't known after it was searched for, there is nothing to search with, and opening it says why.
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

  /// How long the youngest service has run; nil where there is none.
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
