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
  /// Its path and unit, which is unique among the service's accessories.
  var place: String
  var state: FleetState
  var values: [String: Read<AccessoryValue>] = [:]
  /// When each value was read, in seconds since 1970.
  var valueTimes: [String: Double] = [:]
  var facts: DiscoveryFacts
  /// When it was seen last, in seconds since 1970; nil while it is attached.
  var goneSince: Double?
  /// The commands that the mirror knew last.
  private var permitted: [CommandDescription]?
  /// Whether its discovery was marked to be published since it was connected.
  private var isAnnounced = false
  /// The components of its last discovery message, here or in an earlier life of this process.
  var components: [String: String] = [:]

  init(_ level: TopicLevel, _ device: Bridge.Device, connected: Bool, at time: Double) {
    self.level = level
    place = device.place
    state = FleetState(device, connected: connected, at: time)
    facts = DiscoveryFacts(device)
    goneSince = connected ? nil : time
  }

  /// The record of an accessory that this process has published earlier, from what the broker has kept.
  init(_ level: TopicLevel, kept state: FleetState) {
    self.level = level
    place = state.device.place
    self.state = state
    facts = DiscoveryFacts(state.device)
    facts.take(state)
    goneSince = state.time
  }

  /// Adds values; returns whether there is something new.
  mutating func take(_ new: [Read<AccessoryValue>], at time: Double) -> Bool {
    var isNew = false
    for read in new where values[read.value.name] != nil || values.count < ReadingLimits.values {
      var plain = read
      plain.age = nil
      if values.updateValue(plain, forKey: read.value.name) != plain { isNew = true }
      valueTimes[read.value.name] = time - Double(read.age?.inMilliseconds ?? 0) / 1_000
    }
    facts.take(new)
    return isNew
  }

  /// Takes what the mirror knows of the accessory, and returns what is to be published. `mirrorTime` is the time of the
  /// mirror's clock, `now` the same moment in seconds since 1970. Alarms are taken when all that are raised are known.
  mutating func take(
    _ accessory: MirroredAccessory, hasAllAlarms: Bool, at now: Double, mirrorTime: MonotonicTime
  ) -> Dirt {
    let before = self
    func wallClock(_ time: MonotonicTime?) -> Double? { time.map { now - max(.zero, mirrorTime - $0) / .seconds(1) } }
    if accessory.isConnected {
      (place, goneSince) = (accessory.device.place, nil)
      (state.device, state.connected, state.problem) = (accessory.device, true, nil)
      state.held = accessory.record ?? state.held
      if let identity = accessory.identity { state.identity = identity }
      if let status = accessory.status {
        (state.status, state.statusTime) = (status, wallClock(accessory.statusTime))
      }
      if let battery = accessory.battery {
        (state.battery, state.batteryTime) = (battery, wallClock(accessory.batteryTime))
      }
      state.stale = accessory.isStale
      if let commands = accessory.commands, commands != permitted {
        (permitted, facts.commands) = (commands, commands)
      }
    } else if state.connected {
      (state.connected, state.held, goneSince, isAnnounced) = (false, nil, now, false)
      state.problem = FleetProblem(accessory.problem ?? .disconnected(accessory.device.path))
    }
    if hasAllAlarms {
      // The service may be too old for alarms.
      let knowsNone = accessory.record.map { $0.alarms == nil } ?? (state.alarms == nil && accessory.alarms.isEmpty)
      state.alarms = knowsNone ? nil : accessory.alarms
    } else {
      // The record has those that are raised now; the state has those that were published.
      state.alarms = before.state.alarms
    }
    let hasNewValues = take(accessory.values, at: now, mirrorTime: mirrorTime)
    facts.take(state)
    var dirt: Dirt = hasNewValues ? [.values] : []
    if state.connected != before.state.connected || goneSince != before.goneSince {
      dirt.formUnion([.availability, .state])
    }
    if state.isNews(after: before.state) { dirt.insert(.state) }
    // What Home Assistant is told depends on the readings.
    if facts != before.facts || accessory.isAsked && !isAnnounced { dirt.insert(.discovery) }
    if accessory.isAsked { isAnnounced = true }
    if dirt.contains(.state) { state.time = now }
    return dirt
  }

  /// Adds values; returns whether there is something new.
  private mutating func take(_ reading: ValuesReading, at now: Double, mirrorTime: MonotonicTime) -> Bool {
    var new: [Read<AccessoryValue>] = []
    for entry in reading.entries {
      let time = now - max(.zero, mirrorTime - entry.time) / .seconds(1)
      let value = Read(entry.value)
      guard values[value.name] != value else {
        valueTimes[value.name] = max(time, valueTimes[value.name] ?? time)
        continue
      }
      new.append(value)
    }
    return new.isEmpty ? false : take(new, at: now)
  }

  /// The accessory is gone, with this problem. Returns what is to be published.
  mutating func leave(_ error: AccessoryError, at now: Double) -> Dirt {
    guard state.connected else { return [] }
    (state.connected, state.time, state.held) = (false, now, nil)
    state.problem = FleetProblem(error)
    (goneSince, isAnnounced) = (now, false)
    return [.availability, .state]
  }

  /// Adds what the broker has kept, where nothing newer is known: readings of earlier, and which entities Home Assistant has.
  mutating func take(_ kept: Found) {
    if components.isEmpty { components = kept.components }
    if let old = kept.state {
      facts.take(old)
      if state.identity == nil { state.identity = old.identity }
      if state.status == nil { (state.status, state.statusTime) = (old.status, old.statusTime) }
      if state.battery == nil { (state.battery, state.batteryTime) = (old.battery, old.batteryTime) }
      facts.take(state)
    }
    if let old = kept.values, values.isEmpty { _ = take(old.values, at: old.time) }
  }

  // MARK: - Messages

  func availability(_ topics: FleetTopics) -> MQTTMessage {
    MQTTMessage(
      topics.availability(of: level), Array((state.connected ? FleetTopics.online : FleetTopics.offline).utf8),
      isRetained: true)
  }

  func stateMessage(_ topics: FleetTopics, isRetained: Bool) -> MQTTMessage {
    MQTTMessage(topics.state(of: level), state.bytes, isRetained: isRetained)
  }

  /// Nil for an accessory without values.
  func valuesMessage(_ topics: FleetTopics, isRetained: Bool, at time: Double) -> MQTTMessage? {
    guard !values.isEmpty else { return nil }
    let aged = values.values.sorted { $0.value.name < $1.value.name }.map { read in
      var read = read
      read.age = FleetState.age(of: valueTimes[read.value.name], now: time).map { .milliseconds($0) }
      return read
    }
    return MQTTMessage(
      topics.values(of: level), FleetValues(state.device, aged, at: time).bytes, isRetained: isRetained)
  }

  /// The topics that the broker keeps for an accessory.
  static func keptTopics(_ level: TopicLevel, _ topics: FleetTopics, discoveryPrefix: String?) -> [String] {
    var all = [topics.availability(of: level), topics.state(of: level), topics.values(of: level)]
    if let discoveryPrefix { all.insert(DiscoveryTopic.topic(discoveryPrefix, topics.gateway, level), at: 0) }
    return all
  }
}

extension FleetState {
  /// Whether something else than times has changed.
  fileprivate func isNews(after old: FleetState) -> Bool {
    func plain(_ state: FleetState) -> FleetState {
      var state = state
      (state.time, state.statusTime, state.batteryTime) = (0, nil, nil)
      state.held?.readings_age_ms = nil
      state.held?.fresh_ms = nil
      state.held?.next_try_ms = nil
      return state
    }
    return plain(self) != plain(old)
  }
}
