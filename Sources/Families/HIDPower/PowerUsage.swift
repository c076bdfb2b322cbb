// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Usages of power devices (Usage Tables for HID Power Devices 1.1, pages 84h and 85h).
package enum PowerUsage {
  private static func device(_ id: UInt16) -> HIDUsage { HIDUsage(page: 0x84, id: id) }
  private static func battery(_ id: UInt16) -> HIDUsage { HIDUsage(page: 0x85, id: id) }

  // MARK: - Collections

  package static let presentStatus = device(0x02)
  package static let changedStatus = device(0x03)
  package static let ups = device(0x04)
  package static let powerSupply = device(0x05)
  package static let batterySystem = device(0x10)
  package static let batteryCollection = device(0x12)
  package static let charger = device(0x14)
  package static let powerConverter = device(0x16)
  package static let input = device(0x1A)
  package static let output = device(0x1C)
  package static let flow = device(0x1E)
  package static let powerSummary = device(0x24)
  /// The parts that contain other parts, the device itself and its summary first.
  package static let ways = [ups, powerSummary, powerConverter]
  /// Groups of outlets, outlets, and switches for several outlets.
  package static let outlets = [device(0x18), device(0x20), device(0x22)]

  // MARK: - Measurements

  package static let voltage = device(0x30)
  package static let current = device(0x31)
  package static let frequency = device(0x32)
  package static let apparentPower = device(0x33)
  package static let activePower = device(0x34)
  package static let percentLoad = device(0x35)
  package static let temperature = device(0x36)
  package static let configVoltage = device(0x40)
  package static let configCurrent = device(0x41)
  package static let configFrequency = device(0x42)
  package static let configApparentPower = device(0x43)
  package static let configActivePower = device(0x44)
  package static let lowVoltageTransfer = device(0x53)
  package static let highVoltageTransfer = device(0x54)

  package static let capacityMode = battery(0x2C)
  package static let remainingCapacityLimit = battery(0x29)
  package static let remainingTimeLimit = battery(0x2A)
  package static let relativeCharge = battery(0x64)
  package static let remainingCapacity = battery(0x66)
  package static let fullChargeCapacity = battery(0x67)
  package static let runTimeToEmpty = battery(0x68)
  package static let averageTimeToEmpty = battery(0x69)
  package static let averageTimeToFull = battery(0x6A)
  package static let cycleCount = battery(0x6B)
  package static let warningCapacityLimit = battery(0x8C)
  package static let manufacturerDate = battery(0x85)

  /// The plausible ranges of quantities, in their units. Amounts outside are ignored.
  package static let plausible: [HIDUsage: ClosedRange<Double>] = [
    voltage: 0...1_000, configVoltage: 0...1_000, lowVoltageTransfer: 0...1_000, highVoltageTransfer: 0...1_000,
    current: -2_000...2_000, frequency: 0...1_000, percentLoad: 0...500, apparentPower: 0...1e6,
    activePower: -1e6...1e6, configApparentPower: 0...1e6, configActivePower: 0...1e6,
    remainingCapacity: 0...1e9, fullChargeCapacity: 0...1e9, cycleCount: 0...100_000,
    remainingCapacityLimit: 0...100, warningCapacityLimit: 0...100, remainingTimeLimit: 0...86_400,
  ]

  // MARK: - Controls

  package static let delayBeforeReboot = device(0x55)
  package static let delayBeforeStartup = device(0x56)
  package static let delayBeforeShutdown = device(0x57)
  package static let test = device(0x58)
  package static let audibleAlarm = device(0x5A)
  /// APC's own usage, on its own page, for `delayBeforeShutdown`.
  package static let apcDelayBeforeShutdown = HIDUsage(page: 0xFF86, id: 0x7D)

  // MARK: - Flags

  package static let good = device(0x61)
  package static let internalFailure = device(0x62)
  package static let overload = device(0x65)
  package static let overTemperature = device(0x67)
  package static let shutdownRequested = device(0x68)
  package static let shutdownImminent = device(0x69)
  package static let boost = device(0x6E)
  package static let buck = device(0x6F)
  package static let awaitingPower = device(0x72)
  package static let communicationLost = device(0x73)
  package static let belowCapacityLimit = battery(0x42)
  package static let timeLimitExpired = battery(0x43)
  package static let charging = battery(0x44)
  package static let discharging = battery(0x45)
  package static let fullyCharged = battery(0x46)
  package static let fullyDischarged = battery(0x47)
  package static let needReplacement = battery(0x4B)
  package static let acPresent = battery(0xD0)
  package static let batteryPresent = battery(0xD1)
}
