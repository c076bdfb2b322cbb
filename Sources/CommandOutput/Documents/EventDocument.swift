// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// Something that happened to an accessory that this command has open: what is told of it is there, all else null.
package struct EventDocument: Encodable {
  let schema = DocumentSchema.name
  let event: String
  let time: Double
  let device: DeviceDocument
  let identity: OrNull<IdentityDocument>
  let status: OrNull<StatusFields>
  let battery: OrNull<BatteryFields>
  let values: OrNull<[ValueFields]>
  let problem: OrNull<ProblemDocument>

  /// An event of this name, with what it tells; `time` is in seconds since 1970, UTC.
  package init(
    _ event: String, at time: Double = WallClock.seconds, _ device: DeviceDocument,
    identity: AccessoryIdentity? = nil, status: AccessoryStatus? = nil, battery: BatteryReading? = nil,
    values: [Bridge.MeasuredValue]? = nil, problem: AccessoryError? = nil
  ) {
    (self.event, self.time, self.device) = (event, time, device)
    self.identity = OrNull(identity.map(IdentityDocument.init))
    self.status = OrNull(status.map(StatusFields.init))
    self.battery = OrNull(battery.map(BatteryFields.init))
    self.values = OrNull(values.map { $0.map(ValueFields.init) })
    self.problem = OrNull(problem.map(ProblemDocument.init))
  }

  /// What a service tells; nil where that is about no device.
  package init?(_ event: Bridge.Event) {
    guard let device = event.device else { return nil }
    self.init(
      event.event.rawValue, at: event.time, DeviceDocument(device), status: event.status?.reading,
      battery: event.battery?.reading, values: event.values, problem: event.problem?.error(or: .ioFailure))
  }
}
