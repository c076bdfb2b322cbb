// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Testing

@testable import AccessoryFleet

/// What of an accessory is published when the mirror knows something else of it.
@Suite struct FreshnessTests {
  private let device = Device(id: "SIM0001", path: "/dev/ttyUSB0", source: .udev)
  private let time = MonotonicTime(nanoseconds: 1_000_000_000)

  private func record() -> AccessoryRecord {
    AccessoryRecord(TopicLevel(naming: "SIM0001"), device, connected: true, at: 100)
  }

  /// A reading that becomes stale, or fresh again, changes the published state once.
  @Test func becomingStaleChangesTheStateOnce() {
    var (record, accessory) = (record(), MirroredAccessory(service: "s", device: device))
    func take(at now: Double) -> AccessoryRecord.Dirt {
      record.take(accessory, hasAllAlarms: true, at: now, mirrorTime: time)
    }
    #expect(take(at: 110) == [] && record.state.time == 100)
    accessory.isStale = true
    #expect(take(at: 120) == [.state] && record.state.isStale && record.state.time == 120)
    #expect(take(at: 130) == [] && record.state.time == 120)
    accessory.isStale = false
    #expect(take(at: 140) == [.state] && !record.state.isStale)
    (accessory.isConnected, accessory.isStale) = (false, true)
    #expect(take(at: 150) == [.availability, .state] && !record.state.isStale && record.goneSince == 150)
    #expect(take(at: 160) == [] && record.goneSince == 150)
  }

  /// A reading that is only made again is as old as it is, and isn't published.
  @Test func aRepeatedReadingIsNotPublished() {
    var (record, accessory) = (record(), MirroredAccessory(service: "s", device: device))
    (accessory.battery, accessory.batteryTime) = (BatteryReading(percent: 5), time + .seconds(-3))
    #expect(record.take(accessory, hasAllAlarms: true, at: 110, mirrorTime: time) == [.state, .discovery])
    #expect(record.state.batteryTime == MonotonicTime(since1970: 107))
    accessory.batteryTime = time
    #expect(record.take(accessory, hasAllAlarms: true, at: 120, mirrorTime: time) == [])
    #expect(record.state.batteryTime == MonotonicTime(since1970: 120))
    // What Home Assistant is told is published when all was asked for, also where there is nothing.
    accessory.isAsked = true
    #expect(record.take(accessory, hasAllAlarms: true, at: 120, mirrorTime: time) == [.discovery])
    #expect(record.take(accessory, hasAllAlarms: true, at: 120, mirrorTime: time) == [])
  }
}
