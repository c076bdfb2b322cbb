// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The readings of `AccessoryCore` are what the interface has: their fields are published there. These are their former names.

extension Bridge {
  package typealias Battery = BatteryReading
  package typealias Status = AccessoryStatus
  package typealias Identity = AccessoryIdentity
  package typealias ProtocolDetails = AccessoryCore.ProtocolDetails
  package typealias Command = CommandDescription
  package typealias CommandArgument = CommandDescription.Argument
  package typealias FolderEntry = FileEntry
  package typealias MeasuredValue = Read<AccessoryValue>
}

extension BatteryReading {
  package init(_ reading: BatteryReading) { self = reading }
  package var reading: BatteryReading { self }
}

extension AccessoryStatus {
  package init(_ status: AccessoryStatus) { self = status }
  package var reading: AccessoryStatus { self }
}

extension AccessoryIdentity {
  package init(_ identity: AccessoryIdentity) { self = identity }
  package var reading: AccessoryIdentity { self }
}

extension Read<AccessoryValue> {
  package var reading: AccessoryValue { value }
  package var age_ms: Int? { age?.inMilliseconds }
}
