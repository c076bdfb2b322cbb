// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension PowerReports {
  /// The usages of the battery reading, for the feature reports to ask for.
  static let batteryUsages: Set<HIDUsage> = [
    PowerUsage.remainingCapacity, PowerUsage.relativeCharge, PowerUsage.fullChargeCapacity, PowerUsage.capacityMode,
    PowerUsage.runTimeToEmpty, PowerUsage.averageTimeToEmpty, PowerUsage.averageTimeToFull, PowerUsage.cycleCount,
    PowerUsage.voltage, PowerUsage.configVoltage, PowerUsage.current, PowerUsage.temperature,
    PowerUsage.charging, PowerUsage.discharging, PowerUsage.fullyCharged, PowerUsage.acPresent,
    PowerUsage.batteryPresent, PowerUsage.belowCapacityLimit, PowerUsage.timeLimitExpired, PowerUsage.needReplacement,
    PowerUsage.shutdownImminent, PowerUsage.internalFailure, PowerUsage.overTemperature, PowerUsage.overload,
    PowerUsage.communicationLost, PowerUsage.remainingCapacityLimit,
  ]

  /// The battery reading of the known reports.
  func battery() -> BatteryReading {
    var reading = BatteryReading()
    setCharge(&reading)
    setCapacity(&reading)
    reading.millivolts = voltage.flatMap { Self.thousandths($0) }
    reading.milliamperes = amount(PowerUsage.current, in: PowerPlace.cells).flatMap { Self.thousandths($0) }
    reading.timeToEmpty = timeToEmpty(reading.percent)
    reading.timeToFull = seconds(PowerUsage.averageTimeToFull)
    if let celsius = temperature { reading.temperatures = [.init(Self.thousandths(celsius))] }
    reading.cycles = amount(PowerUsage.cycleCount).flatMap { Self.whole($0) }
    reading.faults = names(Self.faults)
    reading.warnings = names(Self.warnings)
    if flag(PowerUsage.batteryPresent) == false { reading.faults = (reading.faults ?? []) + ["no-battery"] }
    if isLow == true { reading.level = flag(PowerUsage.shutdownImminent) == true ? .critical : .low }
    if let limit = lowLimit.flatMap({ Self.whole($0) }), LowLimit.percents.contains(limit) {
      reading.deriveLevel(low: limit)
    } else {
      reading.deriveLevel()
    }
    return reading
  }

  /// The corrected voltage of the battery in volts. Some devices report the output's voltage in its place.
  private var voltage: Double? {
    let nominal = amount(PowerUsage.configVoltage, in: PowerPlace.cells, 1...1_000)
    guard let told = amount(PowerUsage.voltage, in: PowerPlace.cells, 0...(nominal ?? 1_000) * (nominal == nil ? 1 : 3))
    else { return nil }
    return quirks.batteryVoltage(told, nominal: nominal)
  }

  /// The temperature in degrees Celsius. Some makers use Celsius although the unit says kelvins; others use kelvins, or tenths of
  /// them, without a unit.
  private var temperature: Double? {
    func celsius(_ told: Told) -> Double {
      switch (told.field.unit, told.amount) {
      case (.kelvin, 200...), (.none, 200...473): told.amount - 273.15
      case (.none, 2_000...4_730): told.amount / 10 - 273.15
      default: told.amount
      }
    }
    return told(PowerUsage.temperature, in: PowerPlace.cells) { (-40...150).contains(celsius($0)) }.map(celsius)
  }

  private func setCharge(_ reading: inout BatteryReading) {
    let (hasMains, isFull) = (flag(PowerUsage.acPresent), flag(PowerUsage.fullyCharged) == true)
    if flag(PowerUsage.discharging) == true {
      reading.charge = .discharging
    } else if flag(PowerUsage.charging) == true, !isFull {
      reading.charge = .charging
    } else if hasMains == false {
      reading.charge = .discharging
      reading.derived.insert(.charge)
    } else if hasMains == true || isFull {
      reading.charge = isFull ? .full : .notCharging
    }
  }

  /// Whether any of the flags for a low battery is set; nil if the device has none of them.
  var isLow: Bool? {
    let flags = [PowerUsage.belowCapacityLimit, PowerUsage.timeLimitExpired, PowerUsage.shutdownImminent]
    let told = flags.compactMap { flag($0) }
    return told.isEmpty ? nil : told.contains(true)
  }

  /// The unit of the capacities: a charge, by their unit, or percent; and the capacity mode: 0 is milliampere hours, 1 milliwatt
  /// hours, 2 percent. Some makers leave 0 for percent.
  private var capacityUnit: (isCharge: Bool, isPercent: Bool, mode: Int?) {
    let capacity = told(PowerUsage.remainingCapacity) { _ in true }
    let isCharge = capacity?.field.unit == .ampereSecond
    let mode = number(PowerUsage.capacityMode)
    let isPercent = !isCharge && (mode != 0 && mode != 1 || capacity.map { $0.field.logical.upperBound <= 100 } ?? true)
    return (isCharge, isPercent, mode)
  }

  /// The percentage below which the device reports a low battery, in the same unit as its remaining capacity.
  var lowLimit: Double? {
    if capacityUnit.isPercent { return amount(PowerUsage.remainingCapacityLimit, 0...100) }
    guard let told = amount(PowerUsage.remainingCapacityLimit, 0...1e12),
      let full = amount(PowerUsage.fullChargeCapacity), full > 0
    else { return nil }
    return told / full * 100
  }

  /// Sets the capacity, which is in percent, ampere seconds or milliampere hours, by its unit or by the mode.
  private func setCapacity(_ reading: inout BatteryReading) {
    let (isCharge, isPercent, mode) = capacityUnit
    let remaining = isPercent ? nil : amount(PowerUsage.remainingCapacity)
    let full = isPercent ? nil : amount(PowerUsage.fullChargeCapacity)
    if let told = amount(PowerUsage.relativeCharge, 0...100) {
      reading.percent = Self.percent(told)
    } else if isPercent {
      reading.percent = amount(PowerUsage.remainingCapacity, 0...100).flatMap { Self.percent($0) }
    } else if let remaining, let full, full > 0 {
      reading.percent = Self.percent(remaining / full * 100)
      reading.derived.insert(.percent)
    }
    // A battery can't be both full and empty. The percentage is dropped, because an empty battery shuts machines down.
    if let percent = reading.percent, percent <= 5, flag(PowerUsage.fullyCharged) == true { reading.percent = nil }
    guard isCharge || mode == 0 else { return }
    let scale = isCharge ? 1 / 3.6 : 1.0
    reading.remainingMilliampereHours = remaining.flatMap { Self.whole($0 * scale) }
    reading.fullMilliampereHours = full.flatMap { Self.whole($0 * scale) }
  }

  /// The time to empty. Makers also report 0 for an unknown time, so 0 counts only if the UPS reports a low battery, or is nearly
  /// empty.
  private func timeToEmpty(_ percent: Int?) -> Duration? {
    let time = seconds(PowerUsage.runTimeToEmpty) ?? seconds(PowerUsage.averageTimeToEmpty)
    return time == .zero && isLow != true && percent ?? 0 > 10 ? nil : time
  }

  /// A time. All bits set, and 65535, mean unknown; more than a month is impossible.
  private func seconds(_ usage: HIDUsage) -> Duration? {
    let told = told(usage) {
      (0...2_592_000).contains($0.amount) && $0.amount != 65_535 && $0.raw != 1 << Int64($0.field.width) - 1
    }
    return told.flatMap { Self.whole($0.amount) }.map { .seconds($0) }
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

  /// The names of the flags that are set; nil if the device has none of them.
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
