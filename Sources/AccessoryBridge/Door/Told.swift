// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery

/// What an accessory tells, with its age, and with what only a service can tell beside it.
package struct Told<Value: Sendable>: Sendable {
  /// The accessory.
  package let device: Device
  /// What it tells. The age is nil if it was asked just now.
  package let read: Read<Value>
  /// The raised alarms; nil where no service watches the accessory.
  package var alarms: [AccessoryAlarm]?
  /// The rules whose alarms are never raised; nil where no service watches the accessory.
  package var unfitAlarms: [UnfitAlarm]?
  /// What the answer lacks because the accessory didn't send it in time; nil where nothing is known to be missing.
  package var missing: String?

  /// What it tells.
  package var value: Value { read.value }
  /// The age in milliseconds; nil if it was asked just now.
  package var age: Int? { read.age?.inMilliseconds }

  /// What an accessory told that this program has open.
  init(_ value: Value, of device: Device, missing: String?) {
    (self.device, self.missing) = (device, missing)
    read = Read(value)
  }

  /// What a service told, with the age in milliseconds.
  init(
    _ value: Value, of device: Device, age: Int?, isStale: Bool?, alarms: [AccessoryAlarm]? = nil, missing: String?
  ) {
    (self.device, self.alarms, self.missing) = (device, alarms, missing)
    read = Read(value, age: age.map { .milliseconds($0) }, isStale: isStale == true)
  }
}
