// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// Reads and writes alarms in a fleet's documents. The fields are those of `alarms` in the output of `bridge-cli --json`.
enum FleetAlarms {
  /// The most bytes of text in an accessory's alarms, so that its state stays within `FleetLimits.documentBytes`.
  private static let textBytes = 16 << 10
  /// The longest text of a value, in bytes.
  private static let valueBytes = 256

  /// The alarms as a JSON list, cut to the limits.
  static func json(_ alarms: [AccessoryAlarm]?) -> JSON {
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

  static func json(_ alarm: AccessoryAlarm) -> JSON { .of(WithNulls(bounded(alarm))) }

  private static func bounded(_ alarm: AccessoryAlarm) -> AccessoryAlarm {
    var alarm = alarm
    alarm.value = alarm.value.map { ReadingLimits.cut($0, to: valueBytes) }
    return alarm
  }

  /// Reads a list of alarms; nil where it is missing or null.
  static func read(_ fields: FleetFields) throws(FleetDocumentError) -> [AccessoryAlarm]? {
    guard let list = try fields.list("alarms", limit: AlarmRule.countLimit) else { return nil }
    var alarms: [AccessoryAlarm] = []
    for json in list { alarms.append(try FleetFields.value(json, "alarms")) }
    return alarms
  }
}
