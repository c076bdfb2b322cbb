// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryLink

/// Borrows an accessory from the service of this package that holds it. The bytes are the same as if this program had
/// opened the device.
enum ServiceLoan {
  /// The time limit of a service's replies.
  private static let replyTimeout = Duration.seconds(5)

  /// Borrows `device` from the service that holds it, at one of the sockets `places`; nil when none does. Throws the
  /// errors of the loan: `busy` when another program has borrowed it, `disconnected`.
  static func open(
    _ device: Device, from places: [String], writes: Bool
  ) async throws(AccessoryError) -> AccessorySession? {
    for place in places {
      guard let (client, accessory) = await client(at: place, holding: device) else { continue }
      // An older service knows neither the field `writes` nor the parameter `write`.
      let write = writes && accessory.writes != nil
      return AccessorySession(try await client.device(accessory).open(write: write).transport)
    }
    return nil
  }

  /// A connection to the service at `place`, if it holds the device or is opening it.
  private static func client(at place: String, holding device: Device) async -> (BridgeClient, Bridge.Accessory)? {
    guard let client = try? await BridgeClient.connect(to: place, replyTimeout: replyTimeout),
      let list = try? await client.list()
    else { return nil }
    let held = list.first { accessory in
      accessory.state != .failed && accessory.device.line.isOnLine(of: device)
        && (accessory.key == nil || device.key == nil || accessory.device.line.key == device.line.key)
    }
    return held.map { (client, $0) }
  }
}
