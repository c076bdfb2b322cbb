// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Usages of power devices (Usage Tables for HID Power Devices 1.1, pages 84h and 85h).
enum PowerUsage {
  private static func device(_ id: UInt16) -> HIDUsage { HIDUsage(page: 0x84, id: id) }
  private static func battery(_ id: UInt16) -> HIDUsage { HIDUsage(page: 0x85, id: id) }

  // MARK: - Collections

  static let presentStatus = device(0x02)
  static let changedStatus = device(0x03)
  static let ups = device(0x04)
  static let powerSupply = device(0x05)
  static let batterySystem = device(0x10)
  static let batteryCollection = device(0x12)
  static let charger = device(0x14)
  static let powerConverter = device(0x16)
  static let input = device(0x1A)
  static let output = device(0x1C)
  static let flow = device(0x1E)
  static let powerSummary = device(0x24)
  /// The parts that contain other parts, the device itself and its summary first.
  static let ways = [ups, powerSummary, powerConverter]
  /// Groups of outlets, outlets, and switches for several outlets.
  static let outlets = [device(0x18), device(0x20), device(0x22)]

  // MARK: - Measurements

  static let voltage = device(0x30)
  static let current = device(0x31)
  static let frequency = device(0x32)
  static let apparentPower = device(0x33)
  static let activePower = device(0x34)
  static let percentLoad = device(0x35)
  static let temperature = device(0x36)
  static let configVoltage = device(0x40)
  static let configCurrent = device(0x41)
  static let configFrequency = device(0x42)
  static let configApparentPower = device(0x43)
  static let configActivePower = device(0x44)
  static let lowVoltageTransfer = device(0x53)
  static let highVoltageTransfer = device(0x54)

  static let capacityMode = battery(0x2C)
  static let remainingCapacityLimit = battery(0x29)
  static let remainingTimeLimit = battery(0x2A)
  static let relativeCharge = battery(0x64)
  static let remainingCapacity = battery(0x66)
  static let fullChargeCapacity = battery(0x67)
  static let runTimeToEmpty = battery(0x68)
  static let averageTimeToEmpty = battery(0x69)
  static let averageTimeToFull = battery(0x6A)
  static let cycleCount = battery(0x6B)
  static let warningCapacityLimit = battery(0x8C)
  static let manufacturerDate = battery(0x85)

  /// The plausible ranges of quantities, in their units. Amounts outside are ignored.
  static let plausible: [HIDUsage: ClosedRange<Double>] = [
    voltage: 0...1_000, configVoltage: 0...1_000, lowVoltageTransfer: 0...1_000, highVoltageTransfer: 0...1_000,
    current: -2_000...2_000, frequency: 0...1_000, percentLoad: 0...500, apparentPower: 0...1e6,
    activePower: -1e6...1e6, configApparentPower: 0...1e6, configActivePower: 0...1e6,
    remainingCapacity: 0...1e9, fullChargeCapacity: 0...1e9, cycleCount: 0...100_000,
    remainingCapacityLimit: 0...100, warningCapacityLimit: 0...100, remainingTimeLimit: 0...86_400,
  ]

  // MARK: - Controls

  static let delayBeforeReboot = device(0x55)
  static let delayBeforeStartup = device(0x56)
  static let delayBeforeShutdown = device(0x57)
  static let test = device(0x58)
  static let audibleAlarm = device(0x5A)
  /// APC's own usage, on its own page, for `delayBeforeShutdown`.
  static let apcDelayBeforeShutdown = HIDUsage(page: 0xFF86, id: 0x7D)

  // MARK: - Flags

  static let good = device(0x61)
  static let internalFailure = device(0x62)
  static let overload = device(0x65)
  static let overTemperature = device(0x67)
  static let shutdownRequested = device(0x68)
  static let shutdownImminent = device(0x69)
  static let boost = device(0x6E)
  static let buck = device(0x6F)
  static let awaitingPower = device(0x72)
  static let communicationLost = device(0x73)
  static let belowCapacityLimit = battery(0x42)
  static let timeLimitExpired = battery(0x43)
  static let charging = battery(0x44)
  static let discharging = battery(0x45)
  static let fullyCharged = battery(0x46)
  static let fullyDischarged = battery(0x47)
  static let needReplacement = battery(0x4B)
  static let acPresent = battery(0xD0)
  static let batteryPresent = battery(0xD1)
}
