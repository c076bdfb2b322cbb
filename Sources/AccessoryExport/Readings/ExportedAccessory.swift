// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What is known of one accessory of a service, for the servers of this room.
package struct ExportedAccessory: Sendable {
  /// The path of the socket of the accessory's service.
  package var service: String
  /// The device, as the service describes it.
  package var device: Bridge.Device
  /// The id; where another accessory has the same one, a number follows it. Unique in a snapshot.
  package var id: String
  /// The name in protocols that allow only letters, digits, "-" and "_". Unique in a snapshot.
  package var name: String
  /// Whether the service has the accessory open, or has lent it to a client.
  package var isConnected = true
  /// Whether the readings after the accessory was connected have been asked for.
  package var isRead = false
  /// Whether the service says that readings are older than they should be.
  package var isStale = false
  /// The driver and the profile by which the service opened the accessory; nil while they aren't known.
  package var driver, profile: String?
  package var identity: AccessoryIdentity?
  package var battery: BatteryReading?
  package var status: AccessoryStatus?
  package var values = ValuesReading()
  /// The raised alarms, of a feed with alarms.
  package var alarms: [Bridge.Alarm] = []
  /// When the oldest of the regular readings was made; nil before the first one.
  package var readTime: MonotonicTime?
  /// How often the accessory was disconnected, requests to it have failed, and its readings could not be had.
  package var disconnectCount = 0
  package var requestFailureCount = 0
  package var readingFailureCount = 0

  package init(service: String, device: Bridge.Device, id: String, name: String) {
    (self.service, self.device, self.id, self.name) = (service, device, id, name)
  }

  /// The manufacturer: what the accessory says, otherwise what USB says; empty where nobody says.
  package var manufacturer: String { first(identity?.manufacturer, device.manufacturer) }
  /// The model, in the same way.
  package var model: String { first(identity?.model, identity?.name, device.model, device.name) }
  /// The serial number, in the same way.
  package var serialNumber: String { first(identity?.serialNumber, device.serial) }

  private func first(_ texts: String?...) -> String { texts.lazy.compactMap { $0 }.first { !$0.isEmpty } ?? "" }

  /// Forgets the readings, of which none are valid after a disconnect. Alarms stay: the service clears them.
  mutating func forgetReadings() {
    (battery, status, readTime, values) = (nil, nil, nil, ValuesReading())
    (isRead, isStale) = (false, false)
  }
}

/// What is known of all accessories at one time.
package struct ReadingsSnapshot: Sendable {
  /// The accessories, in the order of their names.
  package var accessories: [ExportedAccessory]
  /// The services by the paths of their sockets, and whether each is connected.
  package var services: [(path: String, isUp: Bool)]

  package init(accessories: [ExportedAccessory] = [], services: [(path: String, isUp: Bool)] = []) {
    (self.accessories, self.services) = (accessories, services)
  }

  /// The state of an accessory's readings.
  package enum Freshness: Sendable, Hashable {
    /// The readings are as new as they should be.
    case fresh
    /// They are too old: the accessory doesn't answer its service, or the service is gone.
    case stale
    /// The accessory is not connected.
    case gone
  }

  /// The state of this accessory's readings.
  package func freshness(of accessory: ExportedAccessory) -> Freshness {
    guard services.contains(where: { $0.path == accessory.service && $0.isUp }) else { return .stale }
    if !accessory.isConnected { return .gone }
    return accessory.isRead && !accessory.isStale ? .fresh : .stale
  }
}
