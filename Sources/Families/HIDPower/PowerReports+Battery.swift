// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension PowerReports {
  /// What the battery reading is made of: the feature reports to ask for.
  static let batteryUsages: Set<HIDUsage> = [
    PowerUsage.remainingCapacity, PowerUsage.relativeCharge, PowerUsage.fullChargeCapacity, PowerUsage.capacityMode,
    PowerUsage.runTimeToEmpty, PowerUsage.averageTimeToEmpty, PowerUsage.averageTimeToFull, PowerUsage.cycleCount,
    PowerUsage.voltage, PowerUsage.configVoltage, PowerUsage.current, PowerUsage.temperature,
    PowerUsage.charging, PowerUsage.discharging, PowerUsage.fullyCharged, PowerUsage.acPresent,
    PowerUsage.batteryPresent, PowerUsage.belowCapacityLimit, PowerUsage.timeLimitExpired, PowerUsage.needReplacement,
    PowerUsage.shutdownImminent, PowerUsage.internalFailure, PowerUsage.overTemperature, PowerUsage.overload,
    PowerUsage.communicationLost,
  ]

  /// Where the quantities of the battery stand.
  private static let battery = [PowerUsage.powerSummary, PowerUsage.batteryCollection, PowerUsage.batterySystem]
  private static let cells = [PowerUsage.batteryCollection, PowerUsage.batterySystem, PowerUsage.powerSummary]

  /// The battery, from the reports that are known.
  func battery() -> BatteryReading {
    var reading = BatteryReading(charge: charge)
    setCapacity(&reading)
    reading.millivolts = voltage.flatMap { Self.thousandths($0) }
    reading.milliamperes = amount(PowerUsage.current, in: Self.battery).flatMap { Self.thousandths($0) }
    reading.timeToEmpty = seconds(PowerUsage.runTimeToEmpty) ?? seconds(PowerUsage.averageTimeToEmpty)
    reading.timeToFull = seconds(PowerUsage.averageTimeToFull)
    if let celsius = temperature { reading.temperatures = [.init(Self.thousandths(celsius))] }
    reading.cycles = amount(PowerUsage.cycleCount, in: Self.cells).flatMap { Self.whole($0) }
    reading.faults = names(Self.faults)
    reading.warnings = names(Self.warnings)
    if flag(PowerUsage.batteryPresent) == false { reading.faults = (reading.faults ?? []) + ["no-battery"] }
    if flag(PowerUsage.shutdownImminent) == true {
      reading.level = .critical
    } else if flag(PowerUsage.belowCapacityLimit) == true {
      reading.level = .low
    }
    reading.deriveLevel()
    return reading
  }

  /// The voltage of the battery in volts, with the maker's fault mended.
  private var voltage: Double? {
    guard let told = amount(PowerUsage.voltage, in: Self.battery) else { return nil }
    return quirks.batteryVoltage(told, nominal: amount(PowerUsage.configVoltage, in: Self.battery))
  }

  /// In degrees Celsius. Some makers give them where the unit says kelvins.
  private var temperature: Double? {
    guard let told = amount(PowerUsage.temperature, in: Self.cells) else { return nil }
    return unit(PowerUsage.temperature, in: Self.cells) == .kelvin && told > 200 ? told - 273.15 : told
  }

  private var charge: BatteryReading.Charge {
    if flag(PowerUsage.discharging) == true { return .discharging }
    if flag(PowerUsage.charging) == true { return .charging }
    switch flag(PowerUsage.acPresent) {
    case true?: return flag(PowerUsage.fullyCharged) == true ? .full : .notCharging
    case false?: return .discharging
    case nil: return .unknown
    }
  }

  /// The capacity is in percent, in ampere seconds or in milliampere hours, by its unit or by the mode.
  private func setCapacity(_ reading: inout BatteryReading) {
    let remaining = amount(PowerUsage.remainingCapacity, in: Self.battery)
    let full = amount(PowerUsage.fullChargeCapacity, in: Self.battery)
    let isCharge = unit(PowerUsage.remainingCapacity, in: Self.battery) == .ampereSecond
    // 0 is milliampere hours, 1 milliwatt hours, 2 percent.
    let mode = number(PowerUsage.capacityMode)
    if let told = amount(PowerUsage.relativeCharge, in: Self.battery) {
      reading.percent = Self.percent(told)
    } else if !isCharge, mode != 0, mode != 1 {
      reading.percent = remaining.flatMap { Self.percent($0) }
    } else if let remaining, let full, full > 0 {
      reading.percent = Self.percent(remaining / full * 100)
      reading.derived.insert(.percent)
    }
    guard isCharge || mode == 0 else { return }
    let scale = isCharge ? 1 / 3.6 : 1.0
    reading.remainingMilliampereHours = remaining.flatMap { Self.whole($0 * scale) }
    reading.fullMilliampereHours = full.flatMap { Self.whole($0 * scale) }
  }

  private func seconds(_ usage: HIDUsage) -> Duration? {
    guard let told = amount(usage, in: Self.battery), let seconds = Self.whole(told), (0..<0xFFFF).contains(seconds)
    else { return nil }
    return .seconds(seconds)
  }

  // MARK: - Names

  private static let faults: [(HIDUsage, String)] = [
    (PowerUsage.needReplacement, "replace-battery"), (PowerUsage.internalFailure, "ups-failed"),
    (PowerUsage.overTemperature, "over-temperature"), (PowerUsage.communicationLost, "communication-lost"),
  ]
  private static let warnings: [(HIDUsage, String)] = [
    (PowerUsage.belowCapacityLimit, "battery-low"), (PowerUsage.timeLimitExpired, "time-limit-expired"),
    (PowerUsage.overload, "overload"), (PowerUsage.shutdownImminent, "shutdown-imminent"),
  ]

  /// The names of those that hold; nil where the device tells none of them.
  private func names(_ all: [(usage: HIDUsage, name: String)]) -> [String]? {
    let told = all.compactMap { usage, name in flag(usage).map { (name, $0) } }
    return told.isEmpty ? nil : told.filter(\.1).map(\.0)
  }

  // MARK: - Numbers

  private static func percent(_ number: Double) -> Int? { whole(number).flatMap { (0...100).contains($0) ? $0 : nil } }

  private static func thousandths(_ number: Double) -> Int? { whole(number * 1_000) }

  private static func whole(_ number: Double) -> Int? {
    let rounded = number.rounded()
    return rounded.magnitude <= 1e12 ? Int(rounded) : nil
  }
}
