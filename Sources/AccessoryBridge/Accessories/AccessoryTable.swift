// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDiscovery

/// Merges the devices of sources and services: a device that both know is one accessory.
struct AccessoryTable: Sendable {
  /// One accessory, for as long as it is there.
  struct Entry: Sendable {
    /// Another one each time that an accessory comes.
    let id: UInt64
    /// As a source tells of it.
    var own: (device: Device, driver: String?)?
    /// The entries of services, in the order in which they were reported.
    var held: [(place: String, device: Device, driver: String?)] = []

    /// What a program is shown of it alone; nil when it is something else than an accessory, as far as is known.
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
  /// The paths that each service has told of: what goes beyond the bounds of `ReportedDevices` is passed over.
  private var kept: [String: ReportedDevices<Void>] = [:]
  private let countLimit: Int

  /// Of each service at most `countLimit` accessories are kept.
  init(countLimit: Int = ReplyLimits.devices) { self.countLimit = countLimit }

  /// The accessories that a program gets: all of them, except lines whose units a service has.
  var shown: [(id: UInt64, accessory: KnownAccessory)] {
    let units = entries.flatMap { $0.held.lazy.map(\.device) }.filter { $0.unit != nil }
    let lines = Set(units.map(\.address))
    return entries.compactMap { entry in
      if let own = entry.own?.device, own.unit == nil, entry.held.isEmpty, lines.contains(own.address) { return nil }
      return entry.shown.map { (entry.id, $0) }
    }
  }

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

  /// Removes a device that the system reported as gone, whatever services say.
  mutating func remove(_ device: Device) {
    for entry in entries where entry.own?.device == device {
      for held in entry.held { kept[held.place]?.remove(held.device.place) }
    }
    entries.removeAll { $0.own?.device == device }
  }

  // MARK: - Services

  mutating func hold(_ device: Device, _ driver: String?, at place: String) {
    forget(device.place, at: place)
    let size = device.textByteCount + (driver?.utf8.count ?? 0)
    if kept[place, default: ReportedDevices(countLimit: countLimit)].keep((), for: device.place, size: size) {
      if let index = entries.firstIndex(where: { $0.isSame(device) }) {
        entries[index].held.append((place, device, driver))
      } else {
        entries.append(Entry(id: nextID(), held: [(place, device, driver)]))
      }
    }
    tidyUp()
  }

  /// Call this when the service has released the device at this path, which may end with its unit.
  mutating func release(_ path: String, at place: String) {
    forget(path, at: place)
    tidyUp()
  }

  /// The service has ended.
  mutating func releaseAll(at place: String) {
    kept[place] = nil
    for index in entries.indices { entries[index].held.removeAll { $0.place == place } }
    tidyUp()
  }

  /// The entry stays, also where nobody knows it any more.
  private mutating func forget(_ path: String, at place: String) {
    guard kept[place]?.remove(path) != nil else { return }
    for index in entries.indices {
      entries[index].held.removeAll { $0.place == place && $0.device.place == path }
    }
  }

  /// Removes what nobody knows.
  private mutating func tidyUp() { entries.removeAll { $0.own == nil && $0.held.isEmpty } }

  private mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }
}

extension Device {
  /// Bytes of its texts and lists, roughly.
  var textByteCount: Int {
    let texts = [
      address.description, link, driver, name, manufacturer, model, serialNumber, terminal, usb?.node, usb?.port,
      usb?.damage,
    ]
    let interfaces = usb?.interfaces ?? []
    return texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) } + links.reduce(0) { $0 + $1.utf8.count + 16 }
      + interfaces.reduce(0) { $0 + 64 + 16 * $1.description.endpoints.count + ($1.driver?.utf8.count ?? 0) }
  }
}
