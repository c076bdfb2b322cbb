// SPDX-License-Identifier: Apache-2.0

/// The state of all accessories at one time.
package struct MirrorSnapshot: Sendable {
  /// A service that is followed.
  package struct Service: Sendable {
    /// Its socket, as passed to the mirror.
    package var path: String
    /// Whether it answers.
    package var isUp: Bool
    /// Whether it has reported more accessories than there is room for. Further ones are dropped.
    package var hasTooMany = false

    package init(path: String, isUp: Bool, hasTooMany: Bool = false) {
      (self.path, self.isUp, self.hasTooMany) = (path, isUp, hasTooMany)
    }
  }

  /// The accessories, in the order in which they were first seen.
  package var accessories: [MirroredAccessory]
  /// The services in the order of their paths: those that are expected, and those that have been there.
  package var services: [Service]

  package init(accessories: [MirroredAccessory] = [], services: [Service] = []) {
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
  package func freshness(of accessory: MirroredAccessory) -> Freshness {
    guard services.contains(where: { $0.path == accessory.service && $0.isUp }) else { return .stale }
    if !accessory.isConnected { return .gone }
    return accessory.isRead && !accessory.isStale ? .fresh : .stale
  }
}
