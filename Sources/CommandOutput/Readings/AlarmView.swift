// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Console

/// Formats alarms for people. The mark "!" shows a raised alarm even without colour.
package enum AlarmView {
  /// The beginning of a raised alarm's text.
  package static let mark = "!"

  /// A short form for a column: "! battery < 20 %", "! 2: battery < 20 %, fault"; a dash if none is raised.
  package static func cell(_ alarms: [AccessoryAlarm], _ style: Style = .standardOutput) -> String {
    guard !alarms.isEmpty else { return "-" }
    let names = alarms.prefix(3).map { SafeText.escape($0.name, limit: 24) }.joined(separator: ", ")
    let count = alarms.count > 1 ? "\(alarms.count): " : ""
    return style.red("\(mark) \(count)\(names)\(alarms.count > 3 ? ", …" : "")")
  }

  /// Rows for `Table.facts`, one for each raised alarm: "! low: battery < 20 %, 12 %, for 5 min 3 s". `now` is in seconds
  /// since 1970, UTC.
  package static func facts(
    _ alarms: [AccessoryAlarm]?, now: Double = WallClock.seconds, _ style: Style = .standardOutput
  ) -> [(String, String)] {
    (alarms ?? []).map { alarm in
      let age = max(0, min(now - alarm.since, Double(UInt32.max)))
      return ("Alarm", style.red("\(mark) \(text(alarm))") + ", since \(AgeView.text(Int(age * 1_000))) ago")
    }
  }

  /// Rows for `Table.facts`, one for each rule that doesn't fit: "low: pv_power < 5 V is never raised: pv_power is in W, …".
  package static func facts(
    unfit: [UnfitAlarm]?, _ style: Style = .standardOutput
  ) -> [(String, String)] {
    (unfit ?? []).map { one in
      ("Alarm", style.yellow(rule(one.name, one.rule) + " is never raised: " + SafeText.escape(one.reason, limit: 300)))
    }
  }

  /// "low: battery < 20 %, now 12 %": the name (unless the rule begins with it), the rule and the last value.
  package static func text(_ alarm: AccessoryAlarm) -> String {
    rule(alarm.name, alarm.rule) + (alarm.value.map { ", now " + SafeText.escape($0, limit: 200) } ?? "")
  }

  private static func rule(_ name: String, _ rule: String) -> String {
    (rule.hasPrefix(name) ? "" : SafeText.escape(name) + ": ") + SafeText.escape(rule, limit: 200)
  }

  /// "14:03:59  alarm         SIM0001  battery < 20 %, now 19 %", in the columns of `DeviceEventView`.
  package static func line(
    _ state: AlarmChange, _ alarm: AccessoryAlarm, _ device: Device, at time: String = WallClock.timeOfDay,
    _ style: Style = .standardOutput
  ) -> String {
    let word = DeviceEventView.padded(state == .raised ? "\(mark) alarm" : "alarm over")
    return [
      style.dim(time), state == .raised ? style.red(word) : style.green(word),
      style.bold(SafeText.escape(device.title, limit: 64)), text(alarm),
    ].joined(separator: "  ")
  }
}
