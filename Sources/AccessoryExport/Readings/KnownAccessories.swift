// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The accessories of all services with their latest readings. It has no clock: its owner passes the time.
///
/// An accessory stays known after it was unplugged, and keeps its name when it comes back, also at another port. There
/// are at most `limit`; for a new one the accessory that was away the longest is forgotten.
package struct KnownAccessories: Sendable {
  /// The most accessories.
  package static let limit = 512

  private var entries: [ExportedAccessory] = []
  private var services: [String: Bool] = [:]

  package init() {}

  /// What is known now.
  package var snapshot: ReadingsSnapshot {
    ReadingsSnapshot(
      accessories: entries.sorted { $0.name < $1.name },
      services: services.sorted { $0.key < $1.key }.map { (path: $0.key, isUp: $0.value) })
  }

  // MARK: - Services

  /// The service at `path` was found, or was lost. What it has told becomes stale with it.
  package mutating func note(service path: String, isUp: Bool) { services[path] = isUp }

  /// The service at `path` was lost, if it was ever there.
  package mutating func lose(service path: String) {
    if services[path] != nil { services[path] = false }
    // A service that starts anew has no alarms of an earlier one.
    for entry in entries.indices where entries[entry].service == path { entries[entry].alarms = [] }
  }

  /// Takes the list of a service's accessories. Those that aren't in it are not connected.
  package mutating func take(_ list: [Bridge.Accessory], from service: String, now: MonotonicTime) {
    var listed: Set<String> = []
    for accessory in list.prefix(Self.limit) {
      let place = accessory.device.place
      listed.insert(place)
      guard accessory.isReachable else {
        change(place, service) { $0.disconnect() }
        continue
      }
      // The events come on another connection, perhaps later than the list.
      if index(place, service) == nil { _ = connect(accessory.device, service) }
      change(place, service) { entry in
        entry.isConnected = true
        (entry.driver, entry.profile) = (accessory.driver, accessory.profile)
        entry.isStale = accessory.stale == true
        entry.alarms = accessory.alarms ?? []
        if let age = accessory.readings_age_ms { entry.readTime = now + .milliseconds(-Int64(age)) }
      }
    }
    for entry in entries where entry.service == service && !listed.contains(entry.device.place) {
      change(entry.device.place, service) { $0.disconnect() }
    }
  }

  // MARK: - Events

  /// Takes an event. Returns the device when an accessory was connected, whose readings are to be asked for.
  package mutating func take(_ event: BridgeEvent, from service: String, now: MonotonicTime) -> Bridge.Device? {
    switch event {
    case .ready: break
    case .present(let device), .connected(let device):
      return connect(device, service) ? device : nil
    case .disconnected(let device, _): change(device.place, service) { $0.disconnect() }
    case .battery(let device, let battery):
      change(device.place, service) { entry in
        entry.battery = battery
        entry.wasRead(at: now)
      }
    case .status(let device, let status):
      change(device.place, service) { entry in
        entry.status = status
        entry.wasRead(at: now)
      }
    case .values(let device, let values):
      change(device.place, service) { entry in
        entry.values.take(values, at: now)
        entry.wasRead(at: now)
      }
    case .requestFailed(let device, _): change(device.place, service) { $0.requestFailureCount += 1 }
    case .alarm(let device, let alarm, let state):
      change(device.place, service) { entry in
        entry.alarms.removeAll { $0.name == alarm.name }
        if state == .raised, entry.alarms.count < AlarmRule.countLimit { entry.alarms.append(alarm) }
      }
    }
    return nil
  }

  /// Takes the answers to the questions after a connect; nil for what the accessory doesn't have. `failureCount` is the
  /// number of questions that failed otherwise.
  package mutating func take(_ first: FirstReadings, of device: Bridge.Device, from service: String, now: MonotonicTime)
  {
    change(device.place, service) { entry in
      guard entry.isConnected else { return }
      if let identity = first.identity { entry.identity = identity }
      if let status = first.status { entry.status = status }
      if let battery = first.battery { entry.battery = battery }
      if let values = first.values { entry.values.take(values, at: now) }
      if first.hasReadings { entry.readTime = entry.readTime ?? now }
      entry.readingFailureCount += first.failureCount
      entry.isRead = first.hasReadings || first.failureCount == 0
    }
  }

  // MARK: - Entries

  private func index(_ place: String, _ service: String) -> Int? {
    entries.firstIndex { $0.device.place == place && $0.service == service }
  }

  private mutating func change(_ place: String, _ service: String, _ body: (inout ExportedAccessory) -> Void) {
    if let index = index(place, service) { body(&entries[index]) }
  }

  /// Returns false when there is no room.
  private mutating func connect(_ device: Bridge.Device, _ service: String) -> Bool {
    // Another device was at this place before.
    if let old = index(device.place, service), entries[old].device.id != device.id {
      entries[old].disconnect()
      entries[old].device.path = ""
    }
    let returned =
      index(device.place, service)
      ?? entries.firstIndex { $0.device.id == device.id && $0.service == service && !$0.isConnected }
    if let returned {
      entries[returned].forgetReadings()
      (entries[returned].device, entries[returned].isConnected) = (device, true)
      return true
    }
    if entries.count >= Self.limit {
      guard let away = entries.firstIndex(where: { !$0.isConnected }) else { return false }
      entries.remove(at: away)
    }
    let id = ExportName.free(device.id, separator: "#") { id in entries.contains { $0.id == id } }
    let name = ExportName.free(ExportName.make(device.id), separator: "_") { name in
      entries.contains { $0.name == name }
    }
    entries.append(ExportedAccessory(service: service, device: device, id: id, name: name))
    return true
  }
}

/// The answers to the questions that an accessory is asked after it was connected.
package struct FirstReadings: Sendable {
  package var identity: AccessoryIdentity?
  package var status: AccessoryStatus?
  package var battery: BatteryReading?
  package var values: [AccessoryValue]?
  /// The number of questions that failed, and not because the accessory has no such readings.
  package var failureCount = 0

  package init() {}

  var hasReadings: Bool { status != nil || battery != nil || values != nil }
}

extension ExportedAccessory {
  fileprivate mutating func wasRead(at time: MonotonicTime) { (readTime, isRead, isStale) = (time, true, false) }

  fileprivate mutating func disconnect() {
    guard isConnected else { return }
    isConnected = false
    disconnectCount += 1
    forgetReadings()
  }
}
