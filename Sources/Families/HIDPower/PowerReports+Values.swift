// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension PowerReports {
  /// A row of the table of values.
  private struct Row: Sendable {
    let name: String
    let usage: HIDUsage
    /// The places to read; nil for the usual places of the usage.
    let places: [PowerPlace]?
    let unit: MeasurementUnit?
    let role: AccessoryValue.Role?
    let importance: Importance?

    init(
      _ name: String, _ usage: HIDUsage, _ places: [PowerPlace]? = nil, _ unit: MeasurementUnit?,
      _ role: AccessoryValue.Role? = nil, _ importance: Importance? = nil
    ) {
      (self.name, self.usage, self.places, self.unit, self.role) = (name, usage, places, unit, role)
      self.importance = importance
    }

    var quantity: AccessoryValue.Quantity? {
      switch unit {
      case .volt: .voltage
      case .ampere: .current
      case .hertz: .frequency
      case .voltAmpere: .apparentPower
      case .watt: .power
      case .second: .duration
      default: nil
      }
    }
  }

  private static let numbers: [Row] = [
    Row("input_voltage", PowerUsage.voltage, [.input], .volt, "input.voltage"),
    Row("input_frequency", PowerUsage.frequency, [.input], .hertz, "input.frequency"),
    Row("input_voltage_nominal", PowerUsage.configVoltage, [.input, .inputFlow], .volt, "input.voltage.nominal"),
    Row("low_voltage_transfer", PowerUsage.lowVoltageTransfer, nil, .volt, nil, .setting),
    Row("high_voltage_transfer", PowerUsage.highVoltageTransfer, nil, .volt, nil, .setting),
    Row("output_voltage", PowerUsage.voltage, [.output], .volt, "output.voltage"),
    Row("output_current", PowerUsage.current, [.output], .ampere, "output.current"),
    Row("output_frequency", PowerUsage.frequency, [.output], .hertz, "output.frequency"),
    Row("output_voltage_nominal", PowerUsage.configVoltage, [.output, .outputFlow], .volt, "output.voltage.nominal"),
    Row("load", PowerUsage.percentLoad, nil, .percent, "ups.load"),
    Row("apparent_power", PowerUsage.apparentPower, nil, .voltAmpere, "ups.power"),
    Row("active_power", PowerUsage.activePower, nil, .watt, "ups.realpower"),
    Row("rated_apparent_power", PowerUsage.configApparentPower, nil, .voltAmpere, "ups.power.nominal"),
    Row("rated_power", PowerUsage.configActivePower, nil, .watt, "ups.realpower.nominal"),
    Row("rated_battery_voltage", PowerUsage.configVoltage, PowerPlace.cells, .volt, "battery.voltage.nominal"),
    Row("low_capacity_limit", PowerUsage.remainingCapacityLimit, nil, .percent, Vocabulary.lowCharge.role),
    Row("warning_capacity_limit", PowerUsage.warningCapacityLimit, nil, .percent),
    Row("low_time_limit", PowerUsage.remainingTimeLimit, nil, .second, Vocabulary.lowRuntime.role),
    Row("shutdown_delay", PowerUsage.delayBeforeShutdown, nil, .second),
    Row("startup_delay", PowerUsage.delayBeforeStartup, nil, .second),
    Row("reboot_delay", PowerUsage.delayBeforeReboot, nil, .second),
  ]

  private static let truths: [(name: String, usage: HIDUsage, role: AccessoryValue.Role?)] = [
    ("shutdown_requested", PowerUsage.shutdownRequested, nil), ("shutdown_imminent", PowerUsage.shutdownImminent, nil),
    ("overload", PowerUsage.overload, "ups.overload"), ("boost", PowerUsage.boost, "ups.boost"),
    ("buck", PowerUsage.buck, "ups.trim"), ("awaiting_power", PowerUsage.awaitingPower, nil),
    ("fully_charged", PowerUsage.fullyCharged, nil), ("fully_discharged", PowerUsage.fullyDischarged, nil),
  ]

  /// The words for the result of the last test and for the setting of the beeper.
  private static let choices: [(name: String, usage: HIDUsage, words: [Int: String])] = [
    (
      "test_result", PowerUsage.test,
      [1: "passed", 2: "warning", 3: "failed", 4: "aborted", 5: "in_progress", 6: "none"]
    ),
    ("beeper", PowerUsage.audibleAlarm, [1: "disabled", 2: "enabled", 3: "muted"]),
  ]

  /// The usages of the values, for the feature reports to ask for.
  static let valueUsages = Set(
    numbers.map(\.usage) + truths.map(\.usage) + choices.map(\.usage) + [
      PowerUsage.acPresent, PowerUsage.manufacturerDate, PowerUsage.belowCapacityLimit, PowerUsage.timeLimitExpired,
      PowerUsage.fullChargeCapacity, PowerUsage.good,
    ])

  /// The values beside the battery, from the known reports. A value that the device doesn't have is left out; one that it hasn't
  /// reported yet is unknown.
  func values() -> [AccessoryValue] {
    var values: [AccessoryValue] = []
    if has(PowerUsage.acPresent) {
      values.append(
        AccessoryValue(
          "on_battery", quantity: .state, role: "ups.on_battery",
          content: flag(PowerUsage.acPresent).map { .flag(!$0) }))
    }
    for row in Self.numbers where has(row.usage, in: row.places) {
      values.append(
        AccessoryValue(
          row.name, quantity: row.quantity, unit: row.unit, role: row.role,
          number: number(row), importance: row.importance))
    }
    for (name, usage, role) in Self.truths where has(usage) {
      values.append(AccessoryValue(name, quantity: .state, role: role, content: flag(usage).map { .flag($0) }))
    }
    func conclude(_ name: String, _ role: AccessoryValue.Role, _ isTrue: Bool?) {
      if let isTrue { values.append(AccessoryValue(name, quantity: .state, role: role, content: .flag(isTrue))) }
    }
    conclude("low_battery", "ups.low_battery", isLow)
    // A UPS that announces its shutdown during a battery test is shutting down.
    conclude(
      "testing", "ups.calibrating", number(PowerUsage.test).map { $0 == 5 && flag(PowerUsage.shutdownImminent) != true }
    )
    if quirks.goodIsOutput { conclude("output_off", "ups.off", flag(PowerUsage.good).map { !$0 }) }
    for (name, usage, words) in Self.choices where has(usage) {
      let content = number(usage).map { number -> AccessoryValue.Content in
        words[number].map { .choice(word: $0, number: number) } ?? .number(Double(number))
      }
      values.append(
        AccessoryValue(
          name, quantity: .state, content: content, importance: usage == PowerUsage.audibleAlarm ? .setting : nil))
    }
    if let date = manufacturingDate { values.append(AccessoryValue("manufacturing_date", content: .text(date))) }
    return values
  }

  /// A number, or nil. A delay of -1 means that none is pending.
  private func number(_ row: Row) -> Double? {
    if row.usage == PowerUsage.remainingCapacityLimit { return lowLimit }
    guard let amount = amount(row.usage, in: row.places) else { return nil }
    return row.unit == .second && amount < 0 ? nil : amount
  }

  /// Days in bits 0 to 4, months in 5 to 8, years since 1980 in 9 to 15.
  private var manufacturingDate: String? {
    guard let number = number(PowerUsage.manufacturerDate), (1...0xFFFF).contains(number) else { return nil }
    let (day, month, year) = (number & 0x1F, number >> 5 & 0xF, number >> 9 + 1_980)
    guard (1...31).contains(day), (1...12).contains(month) else { return nil }
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(year)-\(two(month))-\(two(day))"
  }
}
