// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryLink
import Glibc

/// An accessory that a service of this package holds: it is lent, with the same bytes as if it were opened here.
enum HeldAccessory {
  /// How long a service may take to answer.
  private static let patience = Duration.seconds(5)
  /// How long it may take to see that we have given an accessory back, in looks, and the pause between these.
  private static let looks = 200
  private static let pause = Duration.milliseconds(10)

  /// Borrows `device` from the service, at one of `places`, that holds it; nil when none does. Throws what lending it throws: `busy` when
  /// another program has borrowed it, `disconnected`.
  static func open(_ device: Device, from places: [String]) async throws(AccessoryError) -> AccessorySession? {
    for place in places {
      guard let client = await client(at: place, holding: device) else { continue }
      for look in 1... {
        do throws(ControlError) {
          let (_, transport) = try await client.upgrade(Bridge.Open(device: device.path), timeout: patience)
          return AccessorySession(transport)
        } catch {
          // Given back by us, and the service has not noticed yet.
          guard case .answer(let answer) = error, answer.holder == "process \(getpid())", look < looks else {
            throw error.accessoryError
          }
        }
        await IOThread.shared.sleep(for: pause)
      }
    }
    return nil
  }

  /// A connection to the service there, if it has the device, or is about to.
  private static func client(at place: String, holding device: Device) async -> ControlClient? {
    guard let client = try? await ControlClient.connect(to: place, timeout: patience),
      let list = try? await client.call(Bridge.List(), timeout: patience)
    else { return nil }
    let isHeld = list.accessories.contains { accessory in
      let held = accessory.device
      guard accessory.state != .failed else { return false }
      return held.path == device.path || held.terminal != nil && held.terminal == device.terminal
        || held.terminal == nil && held.usb != nil && held.usb?.node == device.usb?.node
    }
    return isHeld ? client : nil
  }
}
