// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// An accessory's battery, for `battery --json`.
package struct BatteryDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.battery
  let time: Double
  let device: DeviceDocument
  let battery: BatteryReading
  /// The age of the reading. Not 0 while another program has borrowed the accessory, or when the accessory only reports
  /// its battery by itself.
  let age_ms: Int
  /// Whether the age exceeds the expected one.
  let stale: Bool
  /// The raised alarms; null where no service says.
  let alarms: [AccessoryAlarm]?
  /// What the reading lacks, because the accessory didn't send it in time; null where nothing is missing.
  let missing: String?

  /// A reading. `age` is in milliseconds, nil for a reading of now; `time` is in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument, _ reading: BatteryReading, age: Int? = nil, isStale: Bool = false,
    alarms: [AccessoryAlarm]? = nil, missing: String? = nil, at time: Double = WallClock.seconds
  ) {
    self.alarms = alarms
    self.missing = missing
    self.device = device
    self.time = time
    battery = reading
    (age_ms, stale) = (age ?? 0, isStale)
  }
}

/// An accessory's values, for `values --json`.
package struct ValuesDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.values
  let time: Double
  let device: DeviceDocument
  let values: [Read<AccessoryValue>]
  /// As in `BatteryDocument`.
  let missing: String?

  /// The requested values, or the changed ones; `time` is in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument, _ values: [Read<AccessoryValue>], missing: String? = nil,
    at time: Double = WallClock.seconds
  ) {
    self.missing = missing
    self.device = device
    self.time = time
    self.values = values
  }
}

/// An accessory's status and identity, for `status --json`.
package struct StatusDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.status
  let time: Double
  let device: DeviceDocument
  let status: AccessoryStatus
  let identity: AccessoryIdentity
  /// The age and whether it exceeds the expected one, as in `BatteryDocument`.
  let age_ms: Int
  let stale: Bool
  /// The raised alarms, as in `BatteryDocument`.
  let alarms: [AccessoryAlarm]?
  /// The rules whose alarms are never raised, because their limits don't fit.
  let unfit_alarms: [Bridge.UnfitAlarm]
  /// As in `BatteryDocument`.
  let missing: String?

  /// A status. `age` is in milliseconds, nil for a status of now; `time` is in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument, _ status: AccessoryStatus, _ identity: AccessoryIdentity, age: Int? = nil,
    isStale: Bool = false, alarms: [AccessoryAlarm]? = nil, unfitAlarms: [Bridge.UnfitAlarm]? = nil,
    missing: String? = nil, at time: Double = WallClock.seconds
  ) {
    self.missing = missing
    unfit_alarms = unfitAlarms ?? []
    self.alarms = alarms
    self.device = device
    self.time = time
    self.status = status
    self.identity = identity
    (age_ms, stale) = (age ?? 0, isStale)
  }
}
