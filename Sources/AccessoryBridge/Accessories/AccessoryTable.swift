// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery

/// What sources and services tell of, put together: a device that both know is one accessory.
struct AccessoryTable: Sendable {
  /// One accessory, for as long as it is there.
  struct Entry: Sendable {
    /// Another one each time that an accessory comes.
    let id: UInt64
    /// As a source tells of it.
    var own: (device: Device, driver: String?)?
    /// As services tell of it, in the order in which they did.
    var held: [(place: String, device: Device, driver: String?)] = []

    /// What a program is shown; nil when it is something else than an accessory, as far as is known.
    var shown: KnownAccessory? {
      guard let first = held.first else {
        return own.flatMap { $0.device.mayBeAccessory ? KnownAccessory(device: $0.device, driver: $0.driver) : nil }
      }
      // The service may not see all that this program sees.
      return KnownAccessory(device: own?.device ?? first.device, driver: first.driver, service: first.place)
    }

    func isSame(_ device: Device) -> Bool {
      own?.device.isSame(as: device) ?? false || held.contains { $0.device.isSame(as: device) }
    }
  }

  /// All that there are.
  private(set) var entries: [Entry] = []
  private var lastID: UInt64 = 0

  /// Accessories that one service may tell of: a mad one must not fill this program's memory.
  static let heldLimit = 1_024

  // MARK: - Sources

  mutating func add(_ device: Device, _ driver: String?) {
    if let index = entries.firstIndex(where: { $0.isSame(device) }) {
      entries[index].own = (device, driver)
    } else {
      entries.append(Entry(id: nextID(), own: (device, driver)))
    }
  }

  mutating func change(_ old: Device, to device: Device, _ driver: String?) {
    guard let index = entries.firstIndex(where: { $0.own?.device == old }) else { return add(device, driver) }
    entries[index].own = (device, driver)
  }

  /// The system knows that it is gone, whatever services say of it.
  mutating func remove(_ device: Device) { entries.removeAll { $0.own?.device == device } }

  // MARK: - Services

  mutating func hold(_ device: Device, _ driver: String?, at place: String) {
    release(device.path, at: place, keepsEntry: true)
    if let index = entries.firstIndex(where: { $0.isSame(device) }) {
      entries[index].held.append((place, device, driver))
    } else if entries.count(where: { $0.held.contains { $0.place == place } }) < Self.heldLimit {
      entries.append(Entry(id: nextID(), held: [(place, device, driver)]))
    }
    entries.removeAll { $0.own == nil && $0.held.isEmpty }
  }

  /// The service has let go what is at this path.
  mutating func release(_ path: String, at place: String) { release(path, at: place, keepsEntry: false) }

  /// The service has ended.
  mutating func releaseAll(at place: String) {
    for index in entries.indices { entries[index].held.removeAll { $0.place == place } }
    entries.removeAll { $0.own == nil && $0.held.isEmpty }
  }

  private mutating func release(_ path: String, at place: String, keepsEntry: Bool) {
    for index in entries.indices { entries[index].held.removeAll { $0.place == place && $0.device.path == path } }
    if !keepsEntry { entries.removeAll { $0.own == nil && $0.held.isEmpty } }
  }

  private mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }
}
