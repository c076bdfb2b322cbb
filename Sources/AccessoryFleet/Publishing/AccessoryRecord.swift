// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What the publisher knows of an accessory, and the messages that say it.
struct AccessoryRecord: Sendable {
  /// What of an accessory is to be published.
  struct Dirt: OptionSet, Sendable {
    let rawValue: UInt8
    static let availability = Dirt(rawValue: 1)
    static let state = Dirt(rawValue: 2)
    static let values = Dirt(rawValue: 4)
    static let discovery = Dirt(rawValue: 8)
    static let all: Dirt = [.availability, .state, .values, .discovery]
  }

  /// What the broker has kept for an accessory from earlier.
  struct Found: Sendable {
    var state: FleetState?
    var values: FleetValues?
    var isOnline = false
    var components: [String: String] = [:]
    var topics: Set<String> = []
  }

  /// Its level in topics.
  let level: TopicLevel
  /// What is published: the readings stay when the accessory is gone, and when this process starts anew.
  var state: FleetState
  var facts: DiscoveryFacts
  /// When it was seen last, in seconds since 1970; nil while it is attached.
  var goneSince: Double?
  /// Whether its discovery was marked to be published since it was connected.
  private var isAnnounced = false
  /// The components of its last discovery message, here or in an earlier life of this process.
  var components: [String: String] = [:]

  init(_ level: TopicLevel, _ device: Device, connected: Bool, at time: Double) {
    (self.level, state) = (level, FleetState(device, connected: connected, at: time))
    (facts, goneSince) = (DiscoveryFacts(device), connected ? nil : time)
  }

  /// The record of an accessory that this process has published earlier, from what the broker has kept.
  init(_ level: TopicLevel, kept state: FleetState) {
    (self.level, self.state, goneSince) = (level, state, state.time)
    facts = DiscoveryFacts(state.device)
    facts.take(state.accessory)
  }

  /// Takes what the mirror knows of the accessory, and returns what is to be published. `mirrorTime` is the time of the
  /// mirror's clock, `now` the same moment in seconds since 1970. Alarms are taken when all that are raised are known.
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
      state.isStale = accessory.isStale
      if let commands = accessory.commands, commands != old.commands {
        (state.commands, facts.commands) = (commands, commands)
      }
    } else if old.isConnected {
      (state.isConnected, state.record, goneSince, isAnnounced) = (false, nil, now, false)
      state.problem = accessory.problem ?? .disconnected(accessory.device.path)
    }
    if hasAllAlarms {
      // Without a list, only what was published says whether the service is too old for alarms.
      state.alarms = accessory.alarms ?? (accessory.record == nil ? old.alarms.map { _ in [] } : nil)
    }
    facts.take(state.accessory)
    if state.isConnected != old.isConnected || goneSince != oldGone { dirt.formUnion([.availability, .state]) }
    if state.accessory.isNews(after: old) { dirt.insert(.state) }
    // What Home Assistant is told depends on the readings.
    if facts != oldFacts || accessory.isAsked && !isAnnounced { dirt.insert(.discovery) }
    if accessory.isAsked { isAnnounced = true }
    if dirt.contains(.state) { state.time = now }
    return dirt
  }

  /// Takes a value; returns whether it is another one than before. A value that is the same never becomes older, also when
  /// the system's clock is set.
  private mutating func take(_ value: AccessoryValue, at time: MonotonicTime) -> Bool {
    let old = state.accessory.values[value.name]
    let time = old?.value == value ? max(time, old?.time ?? time) : time
    let changed = state.accessory.values.take([value], at: time)
    if !changed.isEmpty { facts.take(changed) }
    return !changed.isEmpty
  }

  /// The accessory is gone, with this problem. Returns what is to be published.
  mutating func leave(_ error: AccessoryError, at now: Double) -> Dirt {
    guard state.isConnected else { return [] }
    (state.isConnected, state.time, state.record, state.problem) = (false, now, nil, error)
    (goneSince, isAnnounced) = (now, false)
    return [.availability, .state]
  }

  /// Adds what the broker has kept, where nothing newer is known: readings of earlier, and which entities Home Assistant has.
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

  /// Nil for an accessory without values.
  func valuesMessage(_ topics: FleetTopics, isRetained: Bool, at time: Double) -> MQTTMessage? {
    let now = MonotonicTime(since1970: time)
    let values = state.values.entries.map { Read($0.value, age: $0.age(now)) }.sorted { $0.name < $1.name }
    guard !values.isEmpty else { return nil }
    return MQTTMessage(
      topics.values(of: level), FleetValues(state.device, values, at: time).bytes, isRetained: isRetained)
  }

  /// The topics that the broker keeps for an accessory.
  static func keptTopics(_ level: TopicLevel, _ topics: FleetTopics, discoveryPrefix: String?) -> [String] {
    var all = [topics.availability(of: level), topics.state(of: level), topics.values(of: level)]
    if let discoveryPrefix { all.insert(DiscoveryTopic.topic(discoveryPrefix, topics.gateway, level), at: 0) }
    return all
  }
}

extension MirroredAccessory {
  /// Whether something else than times has changed of what is published in a state.
  fileprivate func isNews(after old: MirroredAccessory) -> Bool {
    func plain(_ record: Bridge.Accessory?) -> Bridge.Accessory? {
      guard var record else { return nil }
      (record.readings_age_ms, record.fresh_ms, record.next_try_ms, record.alarms) = (nil, nil, nil, nil)
      return record
    }
    return (isConnected, isStale, device, problem) != (old.isConnected, old.isStale, old.device, old.problem)
      || (identity, status, battery, alarms) != (old.identity, old.status, old.battery, old.alarms)
      || plain(record) != plain(old.record)
  }
}
