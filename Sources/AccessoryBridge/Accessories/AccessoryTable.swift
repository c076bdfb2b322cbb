// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDiscovery

/// Merges the devices of sources and services: a device that both report is one accessory.
struct AccessoryTable: Sendable {
  /// An accessory, for as long as it is present.
  struct Entry: Sendable {
    /// A new number each time that an accessory appears.
    let id: UInt64
    /// The device as a source reports it; nil when no source does.
    var own: (device: Device, driver: String?)?
    /// The entries of services, in the order in which they were reported.
    var serviceEntries: [(place: String, device: Device, driver: String?)] = []

    /// The accessory as a program sees it; nil when the device isn't an accessory, as far as is known.
    var shown: KnownAccessory? {
      guard let first = serviceEntries.first else {
        return own.flatMap { $0.device.mayBeAccessory ? KnownAccessory(device: $0.device, driver: $0.driver) : nil }
      }
      // The service may not know as much about the device as this program.
      return KnownAccessory(device: own?.device ?? first.device, driver: first.driver, service: first.place)
    }

    func isSame(_ device: Device) -> Bool {
      own?.device.isSame(as: device) ?? false || serviceEntries.contains { $0.device.isSame(as: device) }
    }
  }

  private(set) var entries: [Entry] = []
  private var lastID: UInt64 = 0
  /// The addresses that each service has reported. Devices beyond the limits of `ReportedDevices` are ignored.
  private var kept: [String: ReportedDevices<Void>] = [:]
  private let countLimit: Int

  /// A table that keeps at most `countLimit` accessories of each service.
  init(countLimit: Int = ReplyLimits.devices) { self.countLimit = countLimit }

  /// The accessories that a program sees: all except lines whose units a service has open.
  var shown: [(id: UInt64, accessory: KnownAccessory)] {
    let units = entries.flatMap { $0.serviceEntries.lazy.map(\.device) }.filter { $0.unit != nil }
    let lines = Set(units.map(\.address))
    return entries.compactMap { entry in
      if let own = entry.own?.device, own.unit == nil, entry.serviceEntries.isEmpty, lines.contains(own.address) {
        return nil
      }
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

  /// Removes a device that the system reported as removed, whatever services report.
  mutating func remove(_ device: Device) {
    for entry in entries where entry.own?.device == device {
      for held in entry.serviceEntries { kept[held.place]?.remove(held.device.place) }
    }
    entries.removeAll { $0.own?.device == device }
  }

  // MARK: - Services

  mutating func addServiceEntry(_ device: Device, _ driver: String?, at place: String) {
    forget(device.place, at: place)
    let size = device.textByteCount + (driver?.utf8.count ?? 0)
    if kept[place, default: ReportedDevices(countLimit: countLimit)].keep((), for: device.place, size: size) {
      if let index = entries.firstIndex(where: { $0.isSame(device) }) {
        entries[index].serviceEntries.append((place, device, driver))
      } else {
        entries.append(Entry(id: nextID(), serviceEntries: [(place, device, driver)]))
      }
    }
    tidyUp()
  }

  /// Call this when the service has released the device at this address, which includes the unit.
  mutating func removeServiceEntry(_ path: String, at place: String) {
    forget(path, at: place)
    tidyUp()
  }

  /// Removes a service's report of a device. The entry stays, even if nothing reports it any more.
  private mutating func forget(_ path: String, at place: String) {
    guard kept[place]?.remove(path) != nil else { return }
    for index in entries.indices {
      entries[index].serviceEntries.removeAll { $0.place == place && $0.device.place == path }
    }
  }

  /// Removes entries that neither a source nor a service reports.
  private mutating func tidyUp() { entries.removeAll { $0.own == nil && $0.serviceEntries.isEmpty } }

  private mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }
}
