// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What should be on the broker. Holds a record for each accessory of the mirror, including disconnected ones that aren't forgotten
/// yet, and marks what to publish.
struct PublishedRecords: Sendable {
  typealias Dirt = AccessoryRecord.Dirt

  private var records: [TopicLevel: AccessoryRecord] = [:]
  private var levels = AccessoryLevels()
  private var dirty: [TopicLevel: Dirt] = [:]
  /// The broker's retained messages by level, while they are being read.
  private var found: [TopicLevel: AccessoryRecord.Found] = [:]
  /// The raised alarms of accessories that the service doesn't have now, such as silence alarms.
  private var alarmsOfGone: [TopicLevel: [AccessoryAlarm]] = [:]
  /// Whether all accessories of the service are known.
  private(set) var isSynchronized = false
  /// Whether the service has been unavailable for longer than a restart takes.
  private(set) var isServiceAway = false

  /// The most accessories at one time: as many as a service has, and the same number of disconnected ones.
  static let limit = 2 * ReplyLimits.devices

  /// How many accessories there are, and how many of them are attached.
  struct Counts: Sendable, Hashable {
    let known, attached: Int
  }

  /// The numbers of accessories; nil while not all of the service are known.
  var counts: Counts? {
    guard isSynchronized else { return nil }
    return Counts(known: records.count, attached: records.values.count { $0.state.isConnected })
  }

  /// The record at this level.
  subscript(level: TopicLevel) -> AccessoryRecord? { records[level] }

  /// The level of a device of the service, or else the level of its id.
  func level(of device: Device) -> TopicLevel { levels[device.place] ?? TopicLevel(naming: device.id) }

  // MARK: - The mirror

  /// A service starts to report or has disappeared. The published states stay for now.
  mutating func begin() { (isSynchronized, isServiceAway, alarmsOfGone) = (false, false, [:]) }
  mutating func end() { isSynchronized = false }
  /// The service has reported all accessories.
  mutating func synchronize() { isSynchronized = true }

  /// Applies a change of the mirror. `now` is in seconds since 1970, `mirrorTime` on the mirror's clock.
  mutating func take(_ change: MirrorChange, at now: Double, mirrorTime: MonotonicTime) {
    // Handle disconnected ones first, because other accessories may have their levels now.
    for accessory in change.accessories where !accessory.isConnected {
      guard let level = levels.remove(accessory.id) ?? levelOfGone(accessory) else { continue }
      update(level, accessory, now, mirrorTime)
    }
    // Reports of a lost service don't count for the current one.
    for accessory in change.accessories where accessory.isConnected && accessory.isReported {
      leaveFormerLevel(of: accessory, at: now)
      let level = levels.level(of: accessory)
      if records[level] == nil {
        guard records.count < Self.limit else { continue }
        records[level] = AccessoryRecord(level, accessory.device, connected: false, at: now)
      }
      levels.add(accessory)
      if let kept = found[level] { records[level]?.take(kept) }
      update(level, accessory, now, mirrorTime)
    }
    for id in change.forgotten { _ = levels.remove(id) }
  }

  /// An accessory that has got a twin has its port in its identity since, and so another level.
  private mutating func leaveFormerLevel(of accessory: MirroredAccessory, at now: Double) {
    guard let level = levels[accessory.id], let former = records[level]?.state.device,
      former.id != accessory.device.id
    else { return }
    _ = levels.remove(accessory.id)
    if let dirt = records[level]?.leave(.disconnected(former.path), at: now) { mark(level, dirt) }
  }

  /// The level of a disconnected accessory, if no other accessory has it. A disconnected accessory can still raise alarms.
  private func levelOfGone(_ accessory: MirroredAccessory) -> TopicLevel? {
    let level = levels.level(of: accessory)
    return levels.contains(level) || records[level]?.state.device.id != accessory.device.id ? nil : level
  }

  private mutating func update(
    _ level: TopicLevel, _ accessory: MirroredAccessory, _ now: Double, _ mirrorTime: MonotonicTime
  ) {
    guard var record = records[level] else { return }
    let dirt = record.take(accessory, hasAllAlarms: isSynchronized, at: now, mirrorTime: mirrorTime)
    records[level] = record
    if !dirt.isEmpty { mark(level, dirt) }
  }

  /// Marks accessories that the service hasn't reported as disconnected. With `all`, marks every accessory, because the service has
  /// disappeared.
  mutating func leave(_ error: AccessoryError, all isAll: Bool, at now: Double) {
    if isAll {
      isServiceAway = true
      levels = AccessoryLevels()
    }
    for (level, var record) in records where !levels.contains(level) {
      let dirt = record.leave(error, at: now)
      guard !dirt.isEmpty else { continue }
      records[level] = record
      mark(level, dirt)
    }
  }

  /// Applies an alarm of an accessory that is disconnected or unknown to the mirror.
  mutating func take(_ alarm: AccessoryAlarm, _ state: AlarmChange, of device: Device, at now: Double) {
    let level = TopicLevel(naming: device.id)
    guard levels[device.place] == nil, alarmsOfGone[level] != nil || alarmsOfGone.count < Self.limit else { return }
    alarmsOfGone[level, default: []].take(alarm, state)
    guard isSynchronized, var record = records[level], !record.state.isConnected else { return }
    let facts = record.facts
    (record.state.alarms, record.state.time) = (alarmsOfGone[level], now)
    record.facts.take(record.state.accessory)
    records[level] = record
    mark(level, record.facts == facts ? .state : [.state, .discovery])
  }

  /// Stores the commands that the service permits for an accessory.
  mutating func note(_ commands: [CommandDescription], of level: TopicLevel) {
    guard let record = records[level], record.facts.commands != commands else { return }
    records[level]?.facts.commands = commands
    mark(level, .discovery)
  }

  // MARK: - What the broker has kept

  /// Starts collecting the broker's retained messages.
  mutating func beginLooking() { found = [:] }

  /// Stores a retained message of an accessory.
  mutating func note(_ topic: String, of level: TopicLevel, _ body: (inout AccessoryRecord.Found) -> Void) {
    guard found[level] != nil || found.count < Self.limit else { return }
    body(&found[level, default: AccessoryRecord.Found()])
    found[level]?.topics.insert(topic)
  }

  /// Compares the broker's retained messages with the service's accessories, if those are known or the service is unavailable.
  /// Returns the topics of accessories without a readable state: they can't be shown as disconnected.
  mutating func compare(at now: Double) -> [(TopicLevel, topics: Set<String>)] {
    defer { markAll() }
    guard isSynchronized || isServiceAway else { return [] }
    var unknown: [(TopicLevel, topics: Set<String>)] = []
    for (level, kept) in found.sorted(by: { $0.key < $1.key }) {
      if records[level] != nil {
        records[level]?.take(kept)
        continue
      }
      guard let state = kept.state, records.count < Self.limit else {
        unknown.append((level, kept.topics))
        continue
      }
      var record = AccessoryRecord(level, kept: state)
      record.take(kept)
      record.state.isConnected = false
      record.goneSince = state.time
      record.state.alarms = state.alarms.map { _ in alarmsOfGone[level] ?? [] }
      if kept.isOnline || state.isConnected {
        record.state.problem = AccessoryError(.disconnected, "the service doesn't have it")
        record.state.time = now
      }
      records[level] = record
    }
    found = [:]
    return unknown
  }

  // MARK: - What is to be published

  /// Marks a part of an accessory for publishing.
  mutating func mark(_ level: TopicLevel, _ what: Dirt) { dirty[level, default: []].formUnion(what) }

  /// Marks everything for publishing.
  mutating func markAll() { for level in records.keys { mark(level, .all) } }

  /// Whether anything is marked.
  var isDirty: Bool { !dirty.isEmpty }

  /// The levels with marked parts.
  var dirtyLevels: [TopicLevel] { dirty.keys.sorted() }

  /// Returns and clears the marked parts of an accessory.
  mutating func takeDirt(of level: TopicLevel) -> (Dirt, AccessoryRecord)? {
    guard let what = dirty.removeValue(forKey: level), let record = records[level] else { return nil }
    return (what, record)
  }

  /// Stores the components of the published discovery message.
  mutating func note(components: [String: String], of level: TopicLevel) { records[level]?.components = components }

  // MARK: - Forgetting

  /// The earliest time at which one of the disconnected accessories was last seen, in seconds since 1970.
  var firstGone: Double? { records.values.compactMap(\.goneSince).min() }

  /// Removes the records of accessories that have been disconnected for `limit` seconds, and returns their levels.
  mutating func forget(after limit: Double, at now: Double) -> [TopicLevel] {
    let levels = records.filter { $0.value.goneSince.map { now - $0 >= limit } ?? false }.keys.sorted()
    for level in levels { (records[level], dirty[level]) = (nil, nil) }
    return levels
  }
}
