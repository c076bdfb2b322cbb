// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// Alarms in the documents of a fleet: their fields are those of `alarms` in what `bridge-cli --json` prints.
enum FleetAlarms {
  /// The most bytes of the texts of an accessory's alarms, so that its state stays within `FleetLimits.documentBytes`.
  private static let textBytes = 16 << 10
  /// The longest text of a value, in bytes.
  private static let valueBytes = 256

  /// The list of these alarms, within the limits.
  static func json(_ alarms: [Bridge.Alarm]?) -> JSON {
    guard let alarms else { return .null }
    var room = textBytes
    var list: [JSON] = []
    for alarm in alarms.prefix(AlarmRule.countLimit) {
      let alarm = bounded(alarm)
      room -= [alarm.name, alarm.rule, alarm.value ?? "", alarm.unit ?? ""].reduce(0) { $0 + $1.utf8.count }
      guard room >= 0 else { break }
      list.append(json(alarm))
    }
    return .array(list)
  }

  /// One alarm.
  static func json(_ alarm: Bridge.Alarm) -> JSON { .of(WithNulls(bounded(alarm))) }

  private static func bounded(_ alarm: Bridge.Alarm) -> Bridge.Alarm {
    var alarm = alarm
    alarm.value = alarm.value.map { ReadingLimits.cut($0, to: valueBytes) }
    return alarm
  }

  /// Reads a list of alarms; nil where it is missing or null.
  static func read(_ fields: FleetFields) throws(FleetDocumentError) -> [Bridge.Alarm]? {
    guard let list = try fields.list("alarms", limit: AlarmRule.countLimit) else { return nil }
    var alarms: [Bridge.Alarm] = []
    for json in list { alarms.append(try FleetFields.value(json, "alarms")) }
    return alarms
  }
}

/// The raised alarms that a publisher knows of its service's accessories. The service reports those that are raised already
/// before it says that all are known; until then they are collected here, and afterwards they replace what was known before.
struct RaisedAlarms: Sendable {
  private var collected: [TopicLevel: [Bridge.Alarm]] = [:]

  /// Forgets what was collected: a service begins to report.
  mutating func begin() { collected = [:] }

  /// Collects an alarm that is raised already.
  mutating func note(_ level: TopicLevel, _ alarm: Bridge.Alarm) {
    guard collected[level] != nil || collected.count < FleetPublisher.recordLimit else { return }
    collected[level] = Self.alarms(collected[level] ?? [], alarm, .raised)
  }

  /// The alarms that were collected for an accessory.
  func alarms(of level: TopicLevel) -> [Bridge.Alarm] { collected[level] ?? [] }

  /// These alarms after one was raised or cleared.
  static func alarms(
    _ alarms: [Bridge.Alarm], _ alarm: Bridge.Alarm, _ state: Bridge.AlarmState
  ) -> [Bridge.Alarm] {
    var alarms = alarms
    let place = alarms.firstIndex { $0.name == alarm.name }
    switch (state, place) {
    case (.raised, let place?): alarms[place] = alarm
    case (.raised, nil): if alarms.count < AlarmRule.countLimit { alarms.append(alarm) }
    case (.cleared, let place?): alarms.remove(at: place)
    case (.cleared, nil): break
    }
    return alarms
  }
}
