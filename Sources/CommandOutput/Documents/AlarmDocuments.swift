// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An alarm that was raised or cleared, for commands that run until they are interrupted.
package struct AlarmEventDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.alarmEvent
  let event = "alarm"
  let time: Double
  let device: DeviceDocument
  let alarm: AccessoryAlarm
  let state: String

  /// An event; `time` is in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument, _ alarm: AccessoryAlarm, _ state: AlarmChange, at time: Double = WallClock.seconds
  ) {
    (self.device, self.time) = (device, time)
    self.alarm = alarm
    self.state = state.rawValue
  }
}
