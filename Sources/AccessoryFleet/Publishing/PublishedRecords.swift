// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What is to be on the broker: a record for each accessory of the mirror, also for those that are gone and not
/// forgotten, and what of them is to be published.
struct PublishedRecords: Sendable {
  typealias Dirt = AccessoryRecord.Dirt

  private var records: [TopicLevel: AccessoryRecord] = [:]
  private var levels = AccessoryLevels()
  private var dirty: [TopicLevel: Dirt] = [:]
  /// What the broker has kept for accessories, by level; while it is looked at.
  private var found: [TopicLevel: AccessoryRecord.Found] = [:]
  /// The raised alarms of accessories that the service doesn't have now: they are silent.
  private var alarmsOfGone: [TopicLevel: [AccessoryAlarm]] = [:]
  /// Whether all accessories of the service are known.
  private(set) var isSynchronized = false
  /// Whether the service has been away for longer than a restart takes.
  private(set) var isServiceAway = false

  /// The most accessories that are known at one time: those of a service, and as many that are gone.
  static let limit = 2 * ReplyLimits.devices

  /// The record at this level.
  subscript(level: TopicLevel) -> AccessoryRecord? { records[level] }

  /// The level of a device of the service, or the one that its id has.
  func level(of device: Device) -> TopicLevel { levels[device.place] ?? TopicLevel(naming: device.id) }

  // MARK: - The mirror

  /// A service begins to report, or is gone; what is published stays for now.
  mutating func begin() { (isSynchronized, isServiceAway, alarmsOfGone) = (false, false, [:]) }
  mutating func end() { isSynchronized = false }
  /// All accessories of the service have been reported.
  mutating func synchronize() { isSynchronized = true }

  /// Takes what has changed in the mirror. `now` is in seconds since 1970, `mirrorTime` on the mirror's clock.
  mutating func take(_ change: MirrorChange, at now: Double, mirrorTime: MonotonicTime) {
    // First those that are gone: their levels may be others' now.
    for accessory in change.accessories where !accessory.isConnected {
      guard let level = levels.remove(accessory.id) ?? levelOfGone(accessory) else { continue }
      update(level, accessory, now, mirrorTime)
    }
    // What a service has told before it was lost isn't true for the one that is there now.
    for accessory in change.accessories where accessory.isConnected && accessory.isReported {
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

  /// The level of an accessory that is gone and whose level no other one has: it can still raise alarms.
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

  /// Those that the service hasn't reported are gone; with `all` the others, too, since the service is gone.
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

  /// An alarm of an accessory that the mirror doesn't know, or that is gone.
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

  /// Notes the commands that the service permits for an accessory.
  mutating func note(_ commands: [CommandDescription], of level: TopicLevel) {
    guard let record = records[level], record.facts.commands != commands else { return }
    records[level]?.facts.commands = commands
    mark(level, .discovery)
  }

  // MARK: - What the broker has kept

  /// Begins to look at what the broker has kept.
  mutating func beginLooking() { found = [:] }

  /// Notes something that the broker has kept for an accessory.
  mutating func note(_ topic: String, of level: TopicLevel, _ body: (inout AccessoryRecord.Found) -> Void) {
    guard found[level] != nil || found.count < Self.limit else { return }
    body(&found[level, default: AccessoryRecord.Found()])
    found[level]?.topics.insert(topic)
  }

  /// Compares what the broker has kept with the service's accessories, if they are known or the service is away. Returns
  /// the topics of accessories of which nothing says what they were, so that they can't be shown as gone.
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

  /// Something of an accessory is to be published.
  mutating func mark(_ level: TopicLevel, _ what: Dirt) { dirty[level, default: []].formUnion(what) }

  /// Everything is to be published.
  mutating func markAll() { for level in records.keys { mark(level, .all) } }

  /// Whether something is to be published.
  var isDirty: Bool { !dirty.isEmpty }

  /// The levels of which something is to be published.
  var dirtyLevels: [TopicLevel] { dirty.keys.sorted() }

  /// Takes what is to be published of an accessory.
  mutating func takeDirt(of level: TopicLevel) -> (Dirt, AccessoryRecord)? {
    guard let what = dirty.removeValue(forKey: level), let record = records[level] else { return nil }
    return (what, record)
  }

  /// Notes the components of the discovery message that was published.
  mutating func note(components: [String: String], of level: TopicLevel) { records[level]?.components = components }

  // MARK: - Forgetting

  /// When the first of those that are gone has gone.
  var firstGone: Double? { records.values.compactMap(\.goneSince).min() }

  /// Removes the records of those that have been gone for `limit` seconds, and returns their levels.
  mutating func forget(after limit: Double, at now: Double) -> [TopicLevel] {
    let levels = records.filter { $0.value.goneSince.map { now - $0 >= limit } ?? false }.keys.sorted()
    for level in levels { (records[level], dirty[level]) = (nil, nil) }
    return levels
  }
}
