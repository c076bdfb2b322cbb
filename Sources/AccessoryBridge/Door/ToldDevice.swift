// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery

/// A device as this program has found it, or as the service that has it open describes it.
package struct ToldDevice: Sendable {
  /// The device.
  package let device: Device
  /// The service's own words for it; nil for a device that this program has found.
  package let facts: Bridge.Device?

  init(_ device: Device) { (self.device, facts) = (device, nil) }
  init(_ facts: Bridge.Device) { (device, self.facts) = (Device(facts), facts) }

  /// The accessory's identity.
  package var id: String { facts?.id ?? device.id }
}

/// What an accessory tells, with its age, and with what only a service can tell beside it.
package struct Told<Value: Sendable>: Sendable {
  /// The accessory.
  package let device: ToldDevice
  /// What it tells. The age is nil if it was asked just now.
  package let read: Read<Value>
  /// The raised alarms; nil where no service watches the accessory.
  package var alarms: [AccessoryAlarm]?
  /// The rules whose alarms are never raised; nil where no service watches the accessory.
  package var unfitAlarms: [Bridge.UnfitAlarm]?
  /// What the answer lacks because the accessory didn't send it in time; nil where nothing is known to be missing.
  package var missing: String?

  /// What it tells.
  package var value: Value { read.value }
  /// The age in milliseconds; nil if it was asked just now.
  package var age: Int? { read.age?.inMilliseconds }

  /// What an accessory told that this program has open.
  init(_ value: Value, of device: ToldDevice, missing: String?) {
    (self.device, self.missing) = (device, missing)
    read = Read(value)
  }

  /// What a service told, with the age in milliseconds.
  init(
    _ value: Value, of device: ToldDevice, age: Int?, isStale: Bool?, alarms: [AccessoryAlarm]? = nil, missing: String?
  ) {
    (self.device, self.alarms, self.missing) = (device, alarms, missing)
    read = Read(value, age: age.map { .milliseconds($0) }, isStale: isStale == true)
  }
}
