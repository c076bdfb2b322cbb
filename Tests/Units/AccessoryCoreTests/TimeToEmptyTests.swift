// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

/// The time to empty that is calculated where the accessory doesn't report it.
struct TimeToEmptyTests {
  private static func battery(
    _ remaining: Int?, _ current: Int?, _ charge: BatteryReading.Charge = .discharging, reported: Int? = nil
  ) -> BatteryReading {
    var reading = BatteryReading(percent: 50, charge: charge)
    (reading.remainingMilliampereHours, reading.milliamperes) = (remaining, current)
    reading[.timeToEmpty] = reported
    return reading
  }

  @Test(arguments: [
    (1_000, -500, 7_200), (0, -500, 0), (1, -3_600, 1), (1_000, -1_000_000_000, 0), (999_999, -1_000, 3_599_996),
  ])
  func theTimeToEmptyIsDerivedFromTheCurrent(remaining: Int, current: Int, seconds: Int) {
    for charge in [BatteryReading.Charge.discharging, .unknown] {
      let reading = Self.battery(remaining, current, charge).withTimeToEmpty
      #expect(reading[.timeToEmpty] == seconds && reading.derived.contains(.timeToEmpty))
    }
  }

  /// A charging battery, an unknown current, and a current within the error of the measurement say nothing.
  @Test(arguments: [
    battery(1_000, 500), battery(1_000, 0), battery(1_000, nil), battery(nil, -500), battery(-1, -500),
    battery(1_000, -500, .charging), battery(1_000, -500, .full), battery(1_000, -500, .notCharging),
    battery(1_000_000, -1_000), battery(.max, -1), battery(.max, .min), battery(1_000, -1),
  ])
  func noTimeToEmptyIsDerivedWithoutADischarge(reading: BatteryReading) {
    #expect(reading.withTimeToEmpty == reading && !reading.withTimeToEmpty.derived.contains(.timeToEmpty))
  }

  /// What the accessory reports stays.
  @Test func aReportedTimeToEmptyStays() {
    let reading = Self.battery(1_000, -500, reported: 60)
    #expect(reading.withTimeToEmpty == reading && reading.withTimeToEmpty.timeToEmpty == .seconds(60))
  }
}
