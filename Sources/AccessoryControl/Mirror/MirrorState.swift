// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The accessories of services with their latest readings. It has no clock: its owner passes the time.
///
/// An accessory stays known after it was unplugged, and keeps its number when it comes back, also at another port. For
/// each service there are at most `countLimit` accessories and `byteLimit` bytes of their texts, whatever the service
/// reports. Beyond that, a new accessory replaces the one that has been disconnected longest.
package struct MirrorState: Sendable {
  /// A place in a service, or an accessory's identity in it.
  private struct Name: Hashable, Sendable {
    var service, text: String
  }

  private struct Service: Sendable {
    var isUp = false
    var isExpected = false
    var ids: Set<UInt64> = []
    var byteCount = 0
    var hasTooMany = false
  }

  private struct Entry: Sendable {
    var accessory: MirroredAccessory
    var size: Int
    /// Increases with each disconnection of any accessory; 0 for one that was never connected.
    var leftAs: UInt64 = 0
  }

  private var entries: [UInt64: Entry] = [:]
  private var places: [Name: UInt64] = [:]
  /// Accessories that are away, by their identities, and by the places where they were last.
  private var away: [Name: [UInt64]] = [:]
  private var left: [Name: Set<UInt64>] = [:]
  private var services: [String: Service] = [:]
  private var lastID: UInt64 = 0
  private var leftCount: UInt64 = 0
  private let countLimit: Int
  private let byteLimit: Int
  private let keepsAbsent: Bool
  /// The accessories that have changed or were forgotten since `takeChanged` was called last.
  private var changed: Set<UInt64> = []

  /// With `keepsAbsent`, the accessories that a service lists and doesn't have open are known, too: it opens them, waits for them or
  /// has given them up.
  package init(
    countLimit: Int = ReplyLimits.devices, byteLimit: Int = ReplyLimits.deviceBytes, keepsAbsent: Bool = false
  ) {
    (self.countLimit, self.byteLimit, self.keepsAbsent) = (countLimit, byteLimit, keepsAbsent)
  }

  // MARK: - What is known

  /// The current state.
  package var snapshot: MirrorSnapshot {
    MirrorSnapshot(accessories: entries.values.map(\.accessory).sorted { $0.id < $1.id }, services: shownServices)
  }

  /// The services in the order of their paths: those that are expected, and those that have been there.
  package var shownServices: [MirrorSnapshot.Service] {
    services.sorted { $0.key < $1.key }.filter { $0.value.isUp || $0.value.isExpected }.map {
      MirrorSnapshot.Service(path: $0.key, isUp: $0.value.isUp, hasTooMany: $0.value.hasTooMany)
    }
  }

  /// The accessory with this number.
  package subscript(id: UInt64) -> MirroredAccessory? { entries[id]?.accessory }

  /// The connected accessory at this place of a service.
  package subscript(place: String, service: String) -> MirroredAccessory? {
    places[Name(service: service, text: place)].flatMap { entries[$0]?.accessory }
  }

  /// When the next connected accessory becomes stale; nil if unknown.
  package var staleTime: MonotonicTime? {
    entries.values.lazy.compactMap { $0.accessory.isStale ? nil : $0.accessory.staleTime }.min()
  }

  /// The changed and forgotten accessories since the last call.
  package mutating func takeChanged() -> Set<UInt64> {
    defer { changed = [] }
    return changed
  }

  // MARK: - Services

  /// Adds the service to every snapshot, even before it runs.
  package mutating func expect(service path: String) { services[path, default: Service()].isExpected = true }

  /// The service answers, and begins to report its accessories.
  package mutating func begin(service path: String) {
    services[path, default: Service()].isExpected = true
    forgetReports(of: path)
  }

  /// The service doesn't answer any more. Its readings become stale.
  package mutating func lose(service path: String) {
    services[path]?.isUp = false
    forgetReports(of: path)
  }

  private mutating func forgetReports(of path: String) {
    for id in services[path]?.ids ?? [] {
      // A restarted service has no alarms of an earlier one. No service can report what becomes stale.
      change(id) { ($0.isReported, $0.alarms, $0.staleTime) = (false, nil, nil) }
    }
  }

  /// Notes whether the service answers.
  package mutating func note(service path: String, isUp: Bool) {
    guard services[path]?.isUp != isUp else { return }
    services[path, default: Service()].isUp = isUp
    services[path]?.isExpected = true
    changed.formUnion(services[path]?.ids ?? [])
  }

  /// Takes the list of a service's accessories. Accessories that aren't in it are disconnected. Returns the newly
  /// connected devices, whose readings must be requested.
  @discardableResult
  package mutating func take(_ list: [Bridge.Accessory], from service: String, now: MonotonicTime) -> [Device] {
    var listed: Set<String> = []
    var absent: Set<UInt64> = []
    var new: [Device] = []
    for record in list.prefix(countLimit) {
      let device = record.device
      guard record.isReachable else {
        disconnect(device, service, record.problem?.error(or: .disconnected) ?? .disconnected(device.path))
        if keepsAbsent, let id = keep(absent: record, service, besides: absent, now) { absent.insert(id) }
        continue
      }
      listed.insert(device.place)
      // Events come on another connection, and may be later than the list.
      // What the service had before it was found again is asked, too.
      let isKnown = places[Name(service: service, text: device.place)] != nil
      if isKnown ? !isReported(device, service) : connect(device, service) { new.append(device) }
      change(device.place, service) { $0.take(record, at: now) }
    }
    for id in services[service]?.ids ?? [] {
      guard let entry = entries[id] else { continue }
      let accessory = entry.accessory
      if accessory.isConnected {
        if !listed.contains(accessory.device.place) { disconnect(accessory.device, service, Self.unlisted) }
      } else if let record = accessory.record, !absent.contains(id) {
        // The service has forgotten it, or never had it.
        if entry.leftAs == 0 || record.absent == true { forget(id) } else { change(id) { $0.record = nil } }
      }
    }
    return new
  }

  private static let unlisted = AccessoryError(.disconnected, "the service no longer has it")

  // MARK: - Events

  /// Whether a reading in an event is new. True for other events.
  package func isNews(_ event: BridgeEvent, from service: String) -> Bool {
    switch event {
    case .battery(let device, let battery, _): self[device.place, service]?.battery != battery
    case .status(let device, let status, _): self[device.place, service]?.status != status
    case .values(let device, let values, _):
      self[device.place, service].map { known in
        values.contains { known.values[$0.name]?.value != $0.bounded }
      } ?? true
    default: true
    }
  }

  /// Takes an event. If an accessory was connected, returns the device, whose readings must be requested.
  package mutating func take(_ event: BridgeEvent, from service: String, now: MonotonicTime) -> Device? {
    switch event {
    case .ready:
      note(service: service, isUp: true)
      for id in services[service]?.ids ?? [] {
        guard let accessory = entries[id]?.accessory, accessory.isConnected, !accessory.isReported else { continue }
        disconnect(accessory.device, service, Self.unlisted)
      }
    // A list may have told it before: then its readings are asked for, or known already.
    case .present(let device) where isReported(device, service): break
    case .present(let device), .connected(let device): return connect(device, service) ? device : nil
    case .disconnected(let device, let error): disconnect(device, service, error)
    case .battery(let device, let battery, let age):
      change(device.place, service) { $0.take(battery, age, at: now) }
    case .status(let device, let status, let age):
      change(device.place, service) { $0.take(status, age, at: now) }
    case .values(let device, let values, let age):
      change(device.place, service) { $0.take(values, age, at: now) }
    case .requestFailed(let device, _): change(device.place, service) { $0.requestFailureCount += 1 }
    case .alarm(let device, let alarm, let state):
      if let id = alarmed(device, service) { change(id) { $0.take(alarm, state) } }
    case .changed(let device): if let id = present(device, service) { change(id) { $0.device.given = device.given } }
    case .found: break
    }
    return nil
  }

  /// An alarm by a rule of the view was raised or cleared.
  package mutating func take(
    own alarm: AccessoryAlarm, _ state: AlarmChange, of device: Device, from service: String
  ) {
    if let id = alarmed(device, service) { change(id) { $0.ownAlarms.take(alarm, state) } }
  }

  /// The accessory that has an alarm. A disconnected one can have one, too, for its silence.
  private func alarmed(_ device: Device, _ service: String) -> UInt64? {
    present(device, service) ?? away[Name(service: service, text: device.id)]?.last
  }

  /// Takes the answers to the questions after a connect. Returns those that were taken: a reading that was reported since
  /// the question is newer than the answer. Nil when the accessory has gone.
  @discardableResult
  package mutating func take(
    _ answers: MirrorAnswers, of device: Device, from service: String, now: MonotonicTime
  ) -> MirrorAnswers? {
    guard let accessory = self[device.place, service], accessory.device.id == device.id, accessory.isConnected else {
      return nil
    }
    var answers = answers
    if let asked = answers.askTime {
      if accessory.batteryTime.map({ $0 > asked }) ?? false { answers.battery = nil }
      if accessory.statusTime.map({ $0 > asked }) ?? false { answers.status = nil }
    }
    change(device.place, service) { $0.take(answers, at: now) }
    return answers
  }

  // MARK: - Entries

  private mutating func change(_ place: String, _ service: String, _ body: (inout MirroredAccessory) -> Void) {
    if let id = places[Name(service: service, text: place)] { change(id, body) }
  }

  /// Changes an accessory. Drops the change if there is no room.
  private mutating func change(_ id: UInt64, _ body: (inout MirroredAccessory) -> Void) {
    guard let entry = entries[id] else { return }
    var accessory = entry.accessory
    body(&accessory)
    let (service, growth) = (accessory.service, accessory.textByteCount - entry.size)
    guard growth <= 0 || growth <= byteLimit - (services[service]?.byteCount ?? 0) else {
      services[service]?.hasTooMany = true
      return
    }
    services[service]?.byteCount += growth
    entries[id]?.accessory = accessory
    entries[id]?.size += growth
    changed.insert(id)
  }

  /// The entry of a device that is there. Another one may have the place of a device that is waited for.
  private func present(_ device: Device, _ service: String) -> UInt64? {
    places[Name(service: service, text: device.place)].flatMap { id in
      entries[id]?.accessory.device.id == device.id ? id : nil
    }
  }

  private mutating func disconnect(_ device: Device, _ service: String, _ error: AccessoryError) {
    guard let id = present(device, service) else { return }
    places[Name(service: service, text: device.place)] = nil
    change(id) { $0.disconnect(error) }
    leftCount += 1
    entries[id]?.leftAs = leftCount
    replace(at: device.place, service, false)
    addAway(id)
  }

  /// Another accessory is at the place where others were last, or has gone from there.
  private mutating func replace(at place: String, _ service: String, _ isReplaced: Bool) {
    for id in left[Name(service: service, text: place)] ?? [] { change(id) { $0.isReplaced = isReplaced } }
  }

  /// Takes the record of an accessory that the service lists and doesn't have open. Returns its number, which is none of `others`; nil
  /// when there is no room.
  private mutating func keep(
    absent record: Bridge.Accessory, _ service: String, besides others: Set<UInt64>, _ now: MonotonicTime
  ) -> UInt64? {
    let device = record.device
    let known = returning(device, service, besides: others)
    guard let id = known ?? add(device, service, isConnected: false) else { return nil }
    removeAway(id)
    let isReplaced = places[Name(service: service, text: device.place)] != nil
    change(id) { $0.takeAbsent(record, isReplaced: isReplaced, at: now) }
    addAway(id)
    return id
  }

  /// Whether the service has told since it was found that it has this device.
  private func isReported(_ device: Device, _ service: String) -> Bool {
    guard let accessory = self[device.place, service] else { return false }
    return accessory.device.id == device.id && accessory.isConnected && accessory.isReported
  }

  /// Returns false when there is no room.
  private mutating func connect(_ device: Device, _ service: String) -> Bool {
    let place = Name(service: service, text: device.place)
    // Another device has had this place before.
    if let id = places[place], let old = entries[id]?.accessory, old.device.id != device.id {
      disconnect(old.device, service, .disconnected(old.device.path))
    }
    let id: UInt64
    if let present = places[place] {
      id = present
    } else if let returned = returning(device, service) {
      id = returned
      removeAway(id)
      places[place] = id
    } else {
      guard let new = add(device, service) else { return false }
      id = new
      places[place] = id
    }
    change(id) { $0.connect(device) }
    replace(at: device.place, service, true)
    return true
  }

  /// The accessory that comes back with this device. One that has got a twin has its port in its identity since, and is the same at the
  /// same port. It is none of `others`.
  private func returning(_ device: Device, _ service: String, besides others: Set<UInt64> = []) -> UInt64? {
    let its = (away[Name(service: service, text: device.id)] ?? []).filter { !others.contains($0) }
    let here = left[Name(service: service, text: device.place)] ?? []
    if let id = its.last(where: here.contains) ?? its.last { return id }
    let former = away[Name(service: service, text: device.lineIdentity + device.unitSuffix)] ?? []
    let again = SameAgain(device)
    return former.last { id in !others.contains(id) && entries[id].map { again.fits($0.accessory.device) } ?? false }
  }

  private mutating func add(_ device: Device, _ service: String, isConnected: Bool = true) -> UInt64? {
    var accessory = MirroredAccessory(id: lastID + 1, service: service, device: device)
    accessory.isConnected = isConnected
    let size = accessory.textByteCount
    while let its = services[service], its.ids.count >= countLimit || size > byteLimit - its.byteCount {
      // What the service lists would come back with its next list.
      let away = its.ids.filter { entries[$0].map { !$0.accessory.isConnected && $0.accessory.record == nil } ?? false }
      guard let longest = away.min(by: { entries[$0]!.leftAs < entries[$1]!.leftAs }) else {
        services[service]?.hasTooMany = true
        return nil
      }
      forget(longest)
    }
    lastID += 1
    services[service, default: Service()].ids.insert(lastID)
    services[service]?.byteCount += size
    entries[lastID] = Entry(accessory: accessory, size: size)
    changed.insert(lastID)
    return lastID
  }

  private mutating func forget(_ id: UInt64) {
    removeAway(id)
    guard let entry = entries.removeValue(forKey: id) else { return }
    services[entry.accessory.service]?.ids.remove(id)
    services[entry.accessory.service]?.byteCount -= entry.size
    changed.insert(id)
  }

  private mutating func addAway(_ id: UInt64) {
    guard let (identity, place) = names(of: id) else { return }
    away[identity, default: []].append(id)
    left[place, default: []].insert(id)
  }

  private mutating func removeAway(_ id: UInt64) {
    guard let (identity, place) = names(of: id) else { return }
    away[identity]?.removeAll { $0 == id }
    if away[identity]?.isEmpty == true { away[identity] = nil }
    left[place]?.remove(id)
    if left[place]?.isEmpty == true { left[place] = nil }
  }

  private func names(of id: UInt64) -> (identity: Name, place: Name)? {
    entries[id].map {
      let (service, device) = ($0.accessory.service, $0.accessory.device)
      return (Name(service: service, text: device.id), Name(service: service, text: device.place))
    }
  }
}
