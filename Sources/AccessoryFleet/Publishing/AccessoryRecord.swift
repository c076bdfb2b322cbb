// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryEntities

/// What the publisher knows about an accessory, and the messages that publish it.
struct AccessoryRecord: Sendable {
  /// The parts of an accessory that must be published.
  struct Dirt: OptionSet, Sendable {
    let rawValue: UInt8
    static let availability = Dirt(rawValue: 1)
    static let state = Dirt(rawValue: 2)
    static let values = Dirt(rawValue: 4)
    static let discovery = Dirt(rawValue: 8)
    static let all: Dirt = [.availability, .state, .values, .discovery]
  }

  /// Retained messages that the broker already had for an accessory.
  struct Found: Sendable {
    var state: FleetState?
    var values: FleetValues?
    var isOnline = false
    var components: [String: String] = [:]
    var topics: Set<String> = []
  }

  /// The accessory's topic level.
  let level: TopicLevel
  /// The published state. Its readings stay when the accessory is disconnected and when this process restarts.
  var state: FleetState
  var facts: EntityFacts
  /// When it was last seen, in seconds since 1970; nil while it is attached.
  var goneSince: Double?
  /// Whether discovery was marked for publishing since the accessory was connected.
  private var isAnnounced = false
  /// The components of the last discovery message, published by this process or an earlier one.
  var components: [String: String] = [:]

  init(_ level: TopicLevel, _ device: Device, connected: Bool, at time: Double) {
    (self.level, state) = (level, FleetState(device, connected: connected, at: time))
    (facts, goneSince) = (EntityFacts(device), connected ? nil : time)
  }

  /// Creates the record of an accessory that an earlier process published, from the broker's retained messages.
  init(_ level: TopicLevel, kept state: FleetState) {
    (self.level, self.state, goneSince) = (level, state, state.time)
    facts = EntityFacts(state.device)
    facts.take(state.accessory)
  }

  /// Updates the record from the mirror and returns what to publish. `mirrorTime` is the time on the mirror's clock, and `now` is the
  /// same moment in seconds since 1970. Alarms are taken once all raised ones are known.
  mutating func take(
    _ accessory: MirroredAccessory, hasAllAlarms: Bool, at now: Double, mirrorTime: MonotonicTime
  ) -> Dirt {
    let since1970 = MonotonicTime(since1970: now) - mirrorTime
    func wallClock(_ time: MonotonicTime?) -> MonotonicTime? { time.map { min($0, mirrorTime) + since1970 } }
    let (oldFacts, oldGone) = (facts, goneSince)
    var dirt: Dirt = []
    for entry in accessory.values.entries where take(entry.value, at: min(entry.time, mirrorTime) + since1970) {
      dirt = .values
    }
    let old = state.accessory
    if accessory.isConnected {
      goneSince = nil
      (state.device, state.isConnected, state.problem) = (accessory.device, true, nil)
      state.record = accessory.record ?? old.record
      if let identity = accessory.identity { state.identity = identity }
      if let status = accessory.status {
        (state.status, state.statusTime) = (status, wallClock(accessory.statusTime))
      }
      if let battery = accessory.battery {
        (state.battery, state.batteryTime) = (battery, wallClock(accessory.batteryTime))
      }
      (state.isStale, state.missing) = (accessory.isStale, accessory.missing)
      // What an earlier process or connection read isn't told of an accessory that doesn't answer it now.
      if accessory.isAsked, accessory.missing != nil {
        if accessory.battery == nil { (state.battery, state.batteryTime) = (nil, nil) }
        if accessory.status == nil { (state.status, state.statusTime) = (nil, nil) }
      }
      if let commands = accessory.commands, commands != old.commands {
        (state.commands, facts.commands) = (commands, commands)
      }
    } else if old.isConnected {
      (state.isConnected, state.record, state.missing, goneSince, isAnnounced) = (false, nil, nil, now, false)
      state.problem = accessory.problem ?? .disconnected(accessory.device.path)
    }
    if hasAllAlarms {
      // Without a list of alarms, only the published state tells whether the service is too old for alarms.
      state.alarms = accessory.alarms ?? (accessory.record == nil ? old.alarms.map { _ in [] } : nil)
    }
    facts.take(state.accessory)
    if state.isConnected != old.isConnected || goneSince != oldGone { dirt.formUnion([.availability, .state]) }
    if state.accessory.isNews(after: old) { dirt.insert(.state) }
    // The discovery message depends on the readings.
    if facts != oldFacts || accessory.isAsked && !isAnnounced { dirt.insert(.discovery) }
    if accessory.isAsked { isAnnounced = true }
    if dirt.contains(.state) { state.time = now }
    return dirt
  }

  /// Takes a value and returns whether it has changed. An equal value never gets an older time, even if the system clock is set back.
  private mutating func take(_ value: AccessoryValue, at time: MonotonicTime) -> Bool {
    let old = state.accessory.values[value.name]
    let time = old?.value == value ? max(time, old?.time ?? time) : time
    let changed = state.accessory.values.take([value], at: time)
    if !changed.isEmpty { facts.take(changed) }
    return !changed.isEmpty
  }

  /// Marks the accessory as disconnected with this problem. Returns what to publish.
  mutating func leave(_ error: AccessoryError, at now: Double) -> Dirt {
    guard state.isConnected else { return [] }
    (state.isConnected, state.time, state.record, state.missing, state.problem) = (false, now, nil, nil, error)
    (goneSince, isAnnounced) = (now, false)
    return [.availability, .state]
  }

  /// Fills gaps from the broker's retained messages: earlier readings, and the entities that Home Assistant already has.
  mutating func take(_ kept: Found) {
    if components.isEmpty { components = kept.components }
    if let old = kept.state?.accessory {
      facts.take(old)
      if state.identity == nil { state.identity = old.identity }
      if state.status == nil { (state.status, state.statusTime) = (old.status, old.statusTime) }
      if state.battery == nil { (state.battery, state.batteryTime) = (old.battery, old.batteryTime) }
      facts.take(state.accessory)
    }
    if let old = kept.values, state.values.entries.isEmpty {
      let time = MonotonicTime(since1970: old.time)
      for read in old.values { _ = take(read.value, at: time + (.zero - (read.age ?? .zero))) }
    }
  }

  // MARK: - Messages

  func availability(_ topics: FleetTopics) -> MQTTMessage {
    MQTTMessage(
      topics.availability(of: level), Array((state.isConnected ? FleetTopics.online : FleetTopics.offline).utf8),
      isRetained: true)
  }

  func stateMessage(_ topics: FleetTopics, isRetained: Bool) -> MQTTMessage {
    MQTTMessage(topics.state(of: level), state.bytes, isRetained: isRetained)
  }

  /// The message with the values; nil if the accessory has none.
  func valuesMessage(_ topics: FleetTopics, isRetained: Bool, at time: Double) -> MQTTMessage? {
    let now = MonotonicTime(since1970: time)
    let values = state.values.entries.map { Read($0.value, age: $0.age(now)) }.sorted { $0.name < $1.name }
    guard !values.isEmpty else { return nil }
    return MQTTMessage(
      topics.values(of: level), FleetValues(state.device, values, at: time).bytes, isRetained: isRetained)
  }

  /// The retained topics of an accessory.
  static func keptTopics(_ level: TopicLevel, _ topics: FleetTopics, discoveryPrefix: String?) -> [String] {
    var all = [topics.availability(of: level), topics.state(of: level), topics.values(of: level)]
    if let discoveryPrefix { all.insert(DiscoveryTopic.topic(discoveryPrefix, topics.gateway, level), at: 0) }
    return all
  }
}

extension MirroredAccessory {
  /// Whether anything but times has changed in the published part.
  fileprivate func isNews(after old: MirroredAccessory) -> Bool {
    func plain(_ record: Bridge.Accessory?) -> Bridge.Accessory? {
      guard var record else { return nil }
      (record.readings_age_ms, record.fresh_ms, record.next_try_ms, record.alarms) = (nil, nil, nil, nil)
      return record
    }
    return (isConnected, isStale, device, problem) != (old.isConnected, old.isStale, old.device, old.problem)
      || (identity, status, battery, alarms) != (old.identity, old.status, old.battery, old.alarms)
      || plain(record) != plain(old.record) || missing != old.missing
  }
}
