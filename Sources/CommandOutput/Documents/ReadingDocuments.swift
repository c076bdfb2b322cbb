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
  /// The age of the reading. It is 0 unless another program has borrowed the accessory or the accessory only sends its battery by
  /// itself.
  let age_ms: Int
  /// Whether the age exceeds the expected age.
  let stale: Bool
  /// The raised alarms; null if no service reports them.
  let alarms: [AccessoryAlarm]?
  /// What the reading lacks because the accessory didn't answer or send it in time, or refused it; null if nothing is missing.
  let missing: String?

  /// Creates the document. A reading without an age was made just now. `time` is in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument, _ read: Read<BatteryReading>, at time: Double = WallClock.seconds
  ) {
    (self.device, self.time, alarms, missing) = (device, time, read.alarms, read.missing)
    (battery, age_ms, stale) = (read.value, read.age?.inMilliseconds ?? 0, read.isStale)
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
    _ device: DeviceDocument, _ read: Read<[Read<AccessoryValue>]>, at time: Double = WallClock.seconds
  ) {
    (self.device, self.time, values, missing) = (device, time, read.value, read.missing)
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
  /// The age, and whether it exceeds the expected age, as in `BatteryDocument`.
  let age_ms: Int
  let stale: Bool
  /// The raised alarms, as in `BatteryDocument`.
  let alarms: [AccessoryAlarm]?
  /// The rules whose alarms are never raised, because their limits don't fit the values.
  let unfit_alarms: [UnfitAlarm]
  /// As in `BatteryDocument`.
  let missing: String?

  /// Creates the document. A status without an age was read just now. `time` is in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument, _ read: Read<AccessoryStatus>, _ identity: AccessoryIdentity,
    at time: Double = WallClock.seconds
  ) {
    (self.device, self.time, self.identity, missing) = (device, time, identity, read.missing)
    (status, age_ms, stale) = (read.value, read.age?.inMilliseconds ?? 0, read.isStale)
    (alarms, unfit_alarms) = (read.alarms, read.unfitAlarms ?? [])
  }
}
