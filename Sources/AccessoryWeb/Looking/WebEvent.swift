// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// An event of an accessory, for the list on its page.
struct WebEvent: Sendable, Hashable {
  /// The time in seconds since 1970.
  var time: Double
  /// The text, escaped.
  var text: String
  var severity = TopRow.Severity.none

  init(raised alarm: AccessoryAlarm) {
    self.init(time: alarm.since, text: "alarm: " + AlarmView.text(alarm), severity: .alarm)
  }

  init(time: Double, text: String, severity: TopRow.Severity = .none) {
    (self.time, self.text, self.severity) = (time, text, severity)
  }

  /// Whether this event reports that the alarm was raised.
  func isRaising(_ alarm: AccessoryAlarm) -> Bool { severity == .alarm && abs(time - alarm.since) < 5 }

  /// The events between two states of an accessory, at `time`. The words are those of `watch`.
  static func between(_ old: TopRow, _ new: TopRow, at time: Double) -> [WebEvent] {
    var events: [WebEvent] = []
    let (was, becomes) = (old.reach == .attached, new.reach == .attached)
    if was, !becomes {
      let reason = new.problem.map { ": \($0)" } ?? ""
      events.append(WebEvent(time: time, text: DeviceEventName.disconnected.rawValue + reason, severity: .warning))
    }
    if !was, becomes { events.append(WebEvent(time: time, text: DeviceEventName.connected.rawValue)) }
    // Without a service, raised alarms are unknown.
    guard new.isServed, old.isServed else { return events }
    let (before, after) = (old.accessory.alarms ?? [], new.accessory.alarms ?? [])
    for alarm in after where !before.contains(where: { $0.name == alarm.name }) {
      events.append(WebEvent(raised: alarm))
    }
    for alarm in before where !after.contains(where: { $0.name == alarm.name }) {
      events.append(WebEvent(time: time, text: "alarm over: " + AlarmView.text(alarm)))
    }
    return events
  }

  /// The gaps of a history, at least a minute long, in which nothing was read.
  static func gaps(in series: ReadingSeries) -> [WebEvent] {
    series.points.compactMap { point in
      guard point.mean == nil, point.span >= 60, point.span < 1e9, point.time.isFinite else { return nil }
      return WebEvent(time: point.time, text: "nothing was read for \(AgeView.text(Int(point.span * 1_000)))")
    }
  }
}
