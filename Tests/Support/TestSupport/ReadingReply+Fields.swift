// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

// The fields of replies with a reading by their published names.

extension Bridge.ReadingReply {
  package var age_ms: Int? { read.age?.inMilliseconds }
  package var stale: Bool? { read.isStale ? true : nil }
  package var alarms: [AccessoryAlarm]? { read.alarms }
  package var unfit_alarms: [UnfitAlarm]? { read.unfitAlarms }
  package var missing: String? { read.missing }
}

extension Bridge.ReadingReply where Value == BatteryReading {
  package var battery: BatteryReading { read.value }
}

extension Bridge.ReadingReply where Value == StatusAndIdentity {
  package var status: AccessoryStatus { read.status }
  package var identity: AccessoryIdentity { read.identity }
}

extension Bridge.ReadingReply where Value == ReadValues {
  package var values: ReadValues { read.value }
}
