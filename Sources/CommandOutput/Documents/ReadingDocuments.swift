// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// An accessory's battery.
package struct BatteryDocument: Encodable {
  let schema = DocumentSchema.name
  let device: DeviceDocument
  let battery: WithNulls<Bridge.Battery>
  /// How old the reading is, where it isn't of now: while another program has the accessory. Left out otherwise.
  let age_ms: Int?
  /// True where it is older than its limit. Left out otherwise.
  let stale: Bool?

  /// A reading; `age` is in milliseconds, nil where it is of now.
  package init(_ device: DeviceDocument, _ reading: BatteryReading, age: Int? = nil, isStale: Bool = false) {
    self.device = device
    battery = WithNulls(Bridge.Battery(reading))
    age_ms = age
    stale = isStale ? true : nil
  }
}

/// What an accessory measures.
package struct ValuesDocument: Encodable {
  let schema = DocumentSchema.name
  let device: DeviceDocument
  /// Each with its age in milliseconds where it isn't of now.
  let values: [WithNulls<Bridge.MeasuredValue>]

  /// All values that were asked for, or those that have changed.
  package init(_ device: DeviceDocument, _ values: [Bridge.MeasuredValue]) {
    self.device = device
    self.values = values.map { WithNulls($0) }
  }
}

/// What an accessory is doing, and who it is.
package struct StatusDocument: Encodable {
  let schema = DocumentSchema.name
  let device: DeviceDocument
  let status: WithNulls<Bridge.Status>
  let identity: Bridge.Identity
  /// As that of `BatteryDocument`.
  let age_ms: Int?
  let stale: Bool?

  /// A status; `age` is in milliseconds, nil where it is of now.
  package init(
    _ device: DeviceDocument, _ status: AccessoryStatus, _ identity: AccessoryIdentity, age: Int? = nil,
    isStale: Bool = false
  ) {
    self.device = device
    self.status = WithNulls(Bridge.Status(status))
    self.identity = Bridge.Identity(identity)
    age_ms = age
    stale = isStale ? true : nil
  }
}
