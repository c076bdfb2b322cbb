// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore

/// A serial port over Bluetooth Low Energy whose users, such as an app on a phone, use the device.
///
/// It is offered while there is a device; by the rule `keep`, always. At an unplug its users are disconnected, unless the rule is
/// `keep`. All of them are one client of the hub, and hear everything that the device sends to it. One of them at a time may write, or
/// all of them by the rule `many`.
public struct BluetoothEndpoint: SharingEndpoint {
  /// "ble:Robot".
  public let label: String
  private let server: GATTUARTServer
  private let hub: SharingHub

  /// An endpoint that isn't offered yet. `onTrouble` receives, on the I/O thread, why it isn't, or is no longer; it goes on when the
  /// reason is gone. Throws `misconfigured` for a name that can't be advertised.
  public init(
    _ settings: GATTUARTServer.Settings, limit: EndpointLimit = EndpointLimit(), for hub: SharingHub,
    onTrouble: @escaping @Sendable (AccessoryError) -> Void
  ) throws(AccessoryError) {
    if let refusal = settings.refusal {
      throw AccessoryError(.misconfigured, "ble:\(SafeText.escape(settings.name)): \(refusal)")
    }
    let label = "ble:\(SafeText.escape(settings.name))"
    var settings = settings
    settings.writers = hub.rules.writers == .many ? limit.maximum : 1
    (self.label, self.hub) = (label, hub)
    server = GATTUARTServer(settings, io: hub.io) { transport in
      hub.onThread { $0.clients.welcome(transport, name: label, kind: .local, at: limit) }
    } onNews: { news in
      switch news {
      case .offered: break
      case .trouble(let error, _): onTrouble(error)
      case .unheard(let name): hub.report(.unheard("\(label) (\(name))"))
      }
    }
  }

  /// Offers it from now on, whenever it should be.
  public func start() async {
    if hub.rules.unplug == .keep { await server.offer() }
    await hub.watchDevice { [server, rules = hub.rules] isThere in
      if isThere {
        server.enter { $0.offer() }
      } else if rules.unplug == .hangUp {
        server.enter { $0.withdraw() }
      }
    }
  }

  /// Offers it no longer, and disconnects its users.
  public func close() async { await server.close() }
}
