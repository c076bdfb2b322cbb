// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What the publisher knows of an accessory, and the messages that say it.
struct AccessoryRecord: Sendable {
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

  /// Notes whether the readings are stale; returns whether that is new.
  mutating func takeFreshness(_ isStale: Bool, at time: Double) -> Bool {
    guard state.connected, state.stale != isStale else { return false }
    (state.stale, state.time) = (isStale, time)
    return true
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
