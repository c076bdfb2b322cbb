// SPDX-License-Identifier: Apache-2.0

/// What the quantities of a battery and of a status are called, everywhere: a row for each. A new quantity is a property and a case
/// of `Field` in `BatteryReading`, and a row here.
package enum Vocabulary {
  /// A battery's quantities, in the order in which metrics show them. For people the order is that of `BatteryReading.Field`.
  package static let battery: [ReadingTerm<BatteryReading>] = [
    .init(
      "percent", "Charge", .number(percent, get: { $0.percent }, set: { $0.percent = $1 }),
      described: .init("percent", in: .percent), importance: .headline, alarms: [.init("battery")], isInLine: true,
      series: "battery.percent",
      column: .init("CHARGE"), nut: .init("battery.charge", "Charge of the battery (percent)"),
      metric: .init("accessory_battery_charge_ratio", "Charge of the battery, 0 to 1."),
      entities: [.init("battery", "Battery", class: "battery")]),
    // Those who show decimals take it in place of the percentage.
    .init(
      "percent_tenths", "Charge in tenths",
      .number(
        Measure(nil, 0...1_000), get: { $0.percentTenths }, set: { $0.percentTenths = $1 }),
      described: nil, metric: nil, entities: []),
    .init(
      "level", "Level",
      .word(
        words(BatteryReading.Level.self, but: .unknown),
        get: { $0.level == .unknown ? nil : $0.level.rawValue },
        set: { $0.level = .init(rawValue: $1) ?? $0.level }),
      described: .init("level"), importance: .headline, alarms: [.init("battery level", isOrdered: true)],
      isInLine: true,
      column: .init("LEVEL", leaves: 3),
      metric: .init(
        "accessory_battery_low", "Whether the battery is low (1) or not (0).", .truth(["low", "critical"])),
      entities: [
        .init("battery_low", "Battery low", .truth(["critical", "low"]), class: "battery"),
        .init("battery_level", "Battery level", .word),
      ]),
    .init(
      "charge", "Charging",
      .word(
        words(BatteryReading.Charge.self, but: .unknown),
        get: { $0.charge == .unknown ? nil : $0.charge.rawValue },
        set: { $0.charge = .init(rawValue: $1) ?? $0.charge }),
      described: .init("charging"), importance: .headline, alarms: [.init("charge")], isInLine: true,
      column: .init("STATE", leaves: 5),
      nut: .init(
        "battery.charger.status", "What the charger does: charging, discharging, floating or resting",
        words: [
          "charging": "charging", "discharging": "discharging", "not_charging": "resting", "full": "floating",
        ]),
      metric: .init(
        "accessory_battery_charge_state", "What the battery does: 1 for the state that it is in.", .states),
      entities: [
        .init("charging", "Charging", .truth(["charging"]), class: "battery_charging"),
        .init("charge", "Battery state", .word),
      ]),
    .init(
      "voltage_mv", "Voltage", .number(volts, get: { $0.millivolts }, set: { $0.millivolts = $1 }),
      described: .init("voltage", in: .volt), importance: .shown, trace: "millivolts", alarms: [.init("voltage")],
      isInLine: true,
      series: "battery.voltage", column: .init("VOLTAGE", leaves: 4),
      nut: .init("battery.voltage", "Voltage of the battery (volts)"),
      metric: .init("accessory_battery_volts", "Voltage of the battery."),
      entities: [.init("voltage", "Battery voltage", class: "voltage", unit: "V", places: 2)]),
    .init(
      "current_ma", "Current", .number(amperes, get: { $0.milliamperes }, set: { $0.milliamperes = $1 }),
      described: .init("current", in: .ampere), importance: .shown, trace: "milliamperes", alarms: [.init("current")],
      isInLine: true,
      series: "battery.current", column: .init("CURRENT", leaves: 2),
      nut: .init("battery.current", "Current of the battery, negative while it discharges (amperes)"),
      metric: .init("accessory_battery_amperes", "Current of the battery, negative while it discharges."),
      entities: [.init("current", "Battery current", class: "current", unit: "A", places: 2)]),
    .init(
      "power_mw", "Power", .number(watts, get: { $0.milliwatts }, set: { $0.milliwatts = $1 }),
      described: .init("power", in: .watt, isValueToo: true), importance: .headline, alarms: [.init("battery power")],
      metric: .init("accessory_battery_watts", "Power of the battery, negative while it discharges."),
      entities: [.init("power", "Battery power", class: "power", unit: "W", places: 1)]),
    .init(
      "temperatures", element: "temperature_mc", "Temperature",
      .list(
        Measure(.celsius, published: "m°C", ReadingLimits.millidegrees, plausible: -40_000...150_000),
        limit: ReadingLimits.temperatures,
        single: .greatest,
        get: { $0.temperatures.map { ReadingElement($0.millidegrees, name: $0.name) } },
        set: { $0.temperatures = $1.map { .init($0.count, name: $0.name) } }),
      described: .init("temperatures", element: "temperature", in: .celsius), importance: .shown,
      alarms: [.init("temperature")],
      series: "battery.temperature",
      nut: .init("battery.temperature", "Temperature of the battery (degrees Celsius)", places: 1),
      metric: .init("accessory_battery_temperature_celsius", "Temperatures of the battery.", .each(label: "sensor")),
      entities: [.init("temperature", "Battery temperature", .each, class: "temperature", unit: "°C", places: 1)]),
    .init(
      "cells_mv", "Cells",
      .list(
        cellVolts, limit: ReadingLimits.cells, single: nil, get: { $0.cellMillivolts.map { ReadingElement($0) } },
        set: { $0.cellMillivolts = $1.map(\.count) }),
      described: .init("cells", in: .volt), alarms: [.init("cell voltage"), .init("cell spread", .spread)],
      metric: .init("accessory_battery_cell_volts", "Voltages of the battery's cells.", .each(label: "cell")),
      entities: [
        .init("cell_min", "Lowest cell voltage", .fold(.least), class: "voltage", unit: "V", places: 3),
        .init("cell_max", "Highest cell voltage", .fold(.greatest), class: "voltage", unit: "V", places: 3),
        .init(
          "cell_spread", "Cell voltage spread", .fold(.spread), class: "voltage", places: 0, importance: .headline),
        .init("cell", "Cell voltage", .each, class: "voltage", unit: "V", places: 3, isRare: true),
      ]),
    .init(
      "time_to_empty_s", "Time to empty",
      .number(
        seconds, get: { $0.timeToEmpty.map(whole) }, set: { $0.timeToEmpty = $1.map { .seconds($0) } }),
      described: .init("time_to_empty", in: .second, .minute, .hour), importance: .headline,
      alarms: [.init("time to empty")],
      column: .init("TO EMPTY", leaves: 1), nut: .init("battery.runtime", "Time until the battery is empty (seconds)"),
      metric: .init("accessory_battery_time_to_empty_seconds", "Time until the battery is empty."),
      entities: [.init("time_to_empty", "Time to empty", class: "duration")]),
    .init(
      "time_to_full_s", "Time to full",
      .number(seconds, get: { $0.timeToFull.map(whole) }, set: { $0.timeToFull = $1.map { .seconds($0) } }),
      described: .init("time_to_full", in: .second, .minute, .hour), importance: .headline,
      alarms: [.init("time to full")],
      metric: .init("accessory_battery_time_to_full_seconds", "Time until the battery is full."),
      entities: [.init("time_to_full", "Time to full", class: "duration")]),
    .init(
      "remaining_mah", "Remaining capacity",
      .number(ampereHours, get: { $0.remainingMilliampereHours }, set: { $0.remainingMilliampereHours = $1 }),
      described: .init("remaining", in: .ampereHour), importance: .shown, alarms: [.init("capacity")],
      metric: .init(
        "accessory_battery_remaining_coulombs",
        "Charge that is left in the battery; an ampere hour is 3600 coulombs."),
      entities: [.init("remaining", "Remaining charge", unit: "Ah", places: 1)]),
    .init(
      "full_mah", "Full capacity",
      .number(fullAmpereHours, get: { $0.fullMilliampereHours }, set: { $0.fullMilliampereHours = $1 }),
      described: .init("full", in: .ampereHour), importance: .rated,
      nut: .init("battery.capacity", "Charge of the full battery (ampere hours)"),
      metric: .init("accessory_battery_full_coulombs", "Charge of the full battery."),
      entities: [.init("full", "Charge when full", unit: "Ah", places: 1)]),
    .init(
      "cycles", "Cycles",
      .number(Measure(nil, ReadingLimits.cycles, plausible: 0...30_000), get: { $0.cycles }, set: { $0.cycles = $1 }),
      described: .init("cycles"), alarms: [.init("cycles")],
      metric: .init("accessory_battery_cycles", "Charging cycles so far."),
      entities: [.init("cycles", "Charging cycles", state: "total_increasing")]),
    .init(
      "health_percent", "Health", .number(percent, get: { $0.healthPercent }, set: { $0.healthPercent = $1 }),
      described: .init("health", in: .percent), alarms: [.init("health")],
      metric: .init("accessory_battery_health_ratio", "Charge of the full battery, of that of a new one."),
      entities: [.init("health", "Battery health")]),
    .init(
      "faults", "Faults", .names(get: { $0.faults }, set: { $0.faults = $1 }), described: .init("faults"),
      importance: .shown,
      nut: .init("ups.alarm", "Faults"),
      metric: .init(
        "accessory_battery_faults",
        "How many faults the battery has.",
        .count(each: "accessory_battery_fault", label: "fault", help: "1 for each fault that the battery has.")),
      entities: [
        .init("battery_problem", "Battery problem", .problem, class: "problem"),
        .init("battery_faults", "Battery faults", .names, importance: .detail),
      ]),
    .init(
      "warnings", "Warnings", .names(get: { $0.warnings }, set: { $0.warnings = $1 }), described: .init("warnings"),
      importance: .shown,
      metric: .init(
        "accessory_battery_warnings",
        "How many warnings the battery has.",
        .count(each: "accessory_battery_warning", label: "warning", help: "1 for each warning that the battery has.")),
      entities: [.init("battery_warnings", "Battery warnings", .names, importance: .detail)]),
  ]

  /// A status's quantities.
  package static let status: [ReadingTerm<AccessoryStatus>] = [
    .init(
      "state", "State",
      .word(
        AccessoryState.allCases.filter { $0 != .notInitialized }.map(\.word),
        get: { $0.state.flatMap { $0 == .notInitialized ? nil : $0.word } },
        set: { $0.state = AccessoryState(word: $1) }),
      described: .init("state"), importance: .headline, alarms: [.init("state")],
      metric: .init("accessory_state", "What the accessory does: 1 for the state that it is in.", .states),
      entities: [.init("state", "State", .word)]),
    .init(
      "fault_code", "Fault",
      .number(
        Measure(nil, 0...Int(UInt16.max)), get: { $0.faultCode.map(Int.init) },
        set: { $0.faultCode = $1.flatMap { UInt16(exactly: $0) } }),
      described: .init("fault"), metric: .init("accessory_fault_code", "Number of the accessory's fault."),
      entities: [.init("fault_code", "Fault code", .text)]),
    .init(
      "progress_percent", "Progress", .number(percent, get: { $0.progress }, set: { $0.progress = $1 }),
      described: .init("progress", in: .percent), importance: .shown, alarms: [.init("progress")],
      metric: .init("accessory_progress_ratio", "How much of its work the accessory has done, 0 to 1."),
      entities: [.init("progress", "Progress")]),
  ]

  // MARK: - Units

  // What can be is chosen so that the batteries of houses, boats and lorries are within, and the numbers by which accessories say
  // "unknown" are outside in most scales: 65535, 32767, -32768, 255, and those of tenths and hundredths of them.

  // Batteries that count their charge tell up to 110 percent until they correct it, and new ones have more health than 100.
  private static let percent = Measure(.percent, ReadingLimits.percent, overrun: 10)
  private static let volts = Measure(
    .volt, published: .millivolt, ReadingLimits.electrical, plausible: 0...3_000_000)
  // Cells of titanate have 1.5 to 2.8 V, those of iron phosphate up to 3.65 V, all others up to 4.5 V; 0 V is a wire that is off.
  private static let cellVolts = Measure(.volt, published: .millivolt, ReadingLimits.electrical, plausible: 0...5_000)
  private static let amperes = Measure(
    .ampere, published: .milliampere, ReadingLimits.electrical, plausible: -3_000_000...3_000_000)
  private static let watts = Measure(.watt, published: "mW", ReadingLimits.electrical)
  private static let ampereHours = Measure(
    .ampereHour, published: .milliampereHour, ReadingLimits.capacity, plausible: 0...30_000_000)
  // No battery has a full charge of 0: it isn't known then.
  private static let fullAmpereHours = Measure(
    .ampereHour, published: .milliampereHour, ReadingLimits.capacity, plausible: 1...30_000_000)
  // Ten thousand hours.
  private static let seconds = Measure(.second, ReadingLimits.seconds, plausible: 0...36_000_000)

  @Sendable private static func whole(_ duration: Duration) -> Int { Int(clamping: duration.components.seconds) }

  private static func words<Word>(_ type: Word.Type, but unknown: Word) -> [String]
  where Word: RawRepresentable<String> & CaseIterable & Equatable {
    type.allCases.filter { $0 != unknown }.map(\.rawValue)
  }

  // MARK: - Finding

  /// A battery's quantities in the order for people.
  package static let shown = BatteryReading.Field.allCases.filter { $0 != .percentTenths }.map(\.term)
  /// The battery's quantities that a history keeps.
  package static let kept = battery.filter { $0.series != nil }

  private static let byField: [BatteryReading.Field: ReadingTerm<BatteryReading>] = .init(
    uniqueKeysWithValues: battery.compactMap { term in BatteryReading.Field(rawValue: term.key).map { ($0, term) } })

  fileprivate static func term(_ field: BatteryReading.Field) -> ReadingTerm<BatteryReading> {
    // A test has a row for every field.
    guard let term = byField[field] else { preconditionFailure("no row for \(field.rawValue)") }
    return term
  }
}

extension BatteryReading.Field {
  /// The row of the vocabulary.
  package var term: ReadingTerm<BatteryReading> { Vocabulary.term(self) }
}
