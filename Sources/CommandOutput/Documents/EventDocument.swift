// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// An event of an accessory. Fields that the event doesn't have are null.
package struct EventDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.accessoryEvent
  let event: String
  let time: Double
  let device: DeviceDocument
  let identity: AccessoryIdentity?
  let status: AccessoryStatus?
  let battery: BatteryReading?
  let values: [Read<AccessoryValue>]?
  let problem: ProblemDocument?
  let alarm: AccessoryAlarm?
  /// "raised" or "cleared" for an alarm.
  let state: String?

  /// An event; `time` is in seconds since 1970, UTC.
  package init(
    _ event: String, at time: Double = WallClock.seconds, _ device: DeviceDocument,
    identity: AccessoryIdentity? = nil, status: AccessoryStatus? = nil, battery: BatteryReading? = nil,
    values: [Read<AccessoryValue>]? = nil, problem: AccessoryError? = nil, alarm: AccessoryAlarm? = nil,
    state: AlarmChange? = nil
  ) {
    (self.event, self.time, self.device) = (event, time, device)
    self.identity = identity
    self.status = status
    self.battery = battery
    self.values = values
    self.problem = problem.map(ProblemDocument.init)
    self.alarm = alarm
    self.state = state?.rawValue
  }

  /// An event of a service; nil if the event concerns no device.
  package init?(_ event: Bridge.Event) {
    guard let device = event.device else { return nil }
    self.init(
      event.event.rawValue, at: event.time, DeviceDocument(device), status: event.status,
      battery: event.battery, values: event.values, problem: event.problem?.error(or: .ioFailure),
      alarm: event.alarm, state: event.state)
  }
}
