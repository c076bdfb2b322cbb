// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// A raised or cleared alarm, as a part of other documents. The fields are those of the control socket's protocol;
/// missing ones are null.
package struct AlarmFields: Encodable, Sendable {
  private let fields: WithNulls<Bridge.Alarm>

  /// The fields of an alarm.
  package init(_ alarm: Bridge.Alarm) { fields = WithNulls(alarm) }

  /// Writes all fields, nil ones as null.
  package func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
}

/// A rule that can't be compared with what the accessory reports, as a part of other documents.
package struct UnfitAlarmFields: Encodable, Sendable {
  let name, rule, reason: String

  /// The fields of a rule.
  package init(_ unfit: Bridge.UnfitAlarm) { (name, rule, reason) = (unfit.name, unfit.rule, unfit.reason) }
}

/// An alarm that was raised or cleared, for commands that go on.
package struct AlarmEventDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.alarmEvent
  let event = "alarm"
  let time: Double
  let device: DeviceDocument
  let alarm: AlarmFields
  let state: String

  /// An event; `time` is in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument, _ alarm: Bridge.Alarm, _ state: Bridge.AlarmState, at time: Double = WallClock.seconds
  ) {
    (self.device, self.time) = (device, time)
    self.alarm = AlarmFields(alarm)
    self.state = state.rawValue
  }
}
