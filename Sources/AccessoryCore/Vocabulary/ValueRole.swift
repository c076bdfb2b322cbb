// SPDX-License-Identifier: Apache-2.0

extension AccessoryValue {
  /// What a value is for programs that know devices of one kind, such as UPSs: `ups.load` is the load of a UPS, whatever the
  /// accessory calls it. Roles are given by descriptions; other programs find a value by its role and not by its name.
  public struct Role: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The word; for what UPSs measure, NUT's name of the variable.
    public var rawValue: String
    /// The role with this word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The role with this word.
    public init(stringLiteral word: String) { rawValue = word }
    /// The word. Escape it before showing it if it came from an accessory.
    public var description: String { rawValue }

    /// All roles that programs of this package know.
    public static let known: [Role] = Vocabulary.roles.map(\.role)
  }
}

/// A role of values: a row of the vocabulary.
package struct RoleTerm: Sendable {
  /// For a number, also the name of NUT's variable.
  package let role: AccessoryValue.Role
  /// The unit of the number; nil for yes or no.
  package let unit: MeasurementUnit?
  /// What it is.
  package let summary: String
  /// The names by which values without a role are recognized, in order of preference: descriptions and services of earlier versions
  /// have no roles.
  package let olderNames: [String]
  /// How much values with the role matter to people.
  package let importance: Importance

  fileprivate init(
    _ role: AccessoryValue.Role, _ unit: MeasurementUnit?, _ olderNames: [String], _ summary: String,
    _ importance: Importance? = nil
  ) {
    (self.role, self.unit, self.olderNames, self.summary) = (role, unit, olderNames, summary)
    // What is only true or false is told by alarms and by NUT's status.
    let usual: Importance = role.rawValue.hasSuffix(".nominal") ? .rated : unit == nil ? .detail : .shown
    self.importance = importance ?? usual
  }

  /// Whether the value can have the role, and is known.
  func fits(_ value: AccessoryValue) -> Bool {
    if unit == nil, case .flag = value.content { return true }
    return unit != nil && value.unit == unit && value.number != nil
  }
}

extension Vocabulary {
  /// Whether the machine at a UPS runs from its battery.
  package static let onBattery = RoleTerm(
    "ups.on_battery", nil, ["on_battery"], "Whether the UPS supplies its load from the battery", .headline)
  /// The load of a UPS.
  package static let load = RoleTerm(
    "ups.load", .percent, ["load"], "Load of the device (percent)", .headline)
  /// At which charge, and at which remaining time, a UPS says that its battery is low.
  package static let lowCharge = RoleTerm(
    "battery.charge.low", .percent, ["low_capacity_limit"], "Charge from which the battery counts as low (percent)",
    .setting)
  package static let lowRuntime = RoleTerm(
    "battery.runtime.low", .second, ["low_time_limit"],
    "Remaining time from which the battery counts as low (seconds)", .setting)

  /// The roles of values, in the order of their names.
  package static let roles: [RoleTerm] = [
    lowCharge, lowRuntime,
    .init("battery.voltage.nominal", .volt, ["rated_battery_voltage"], "Voltage that the battery is made for (volts)"),
    .init("input.current", .ampere, ["input_current", "grid_current"], "Current from the mains (amperes)"),
    .init(
      "input.current.nominal", .ampere, ["rated_grid_current"],
      "Current from the mains that the device is made for (amperes)"),
    .init(
      "input.frequency", .hertz, ["input_frequency", "grid_frequency", "frequency"], "Frequency of the mains (hertz)"),
    .init("input.power", .voltAmpere, ["input_apparent_power"], "Apparent power from the mains (volt-amperes)"),
    .init("input.realpower", .watt, ["input_power", "grid_power"], "Real power from the mains (watts)"),
    .init("input.voltage", .volt, ["input_voltage", "grid_voltage", "voltage"], "Voltage of the mains (volts)"),
    .init("input.voltage.fault", .volt, ["fault_voltage"], "Voltage of the mains at the last fault (volts)", .detail),
    .init(
      "input.voltage.nominal", .volt, ["rated_grid_voltage"],
      "Voltage of the mains that the device is made for (volts)"),
    .init("output.current", .ampere, ["output_current", "load_current"], "Current to the load (amperes)"),
    .init(
      "output.current.nominal", .ampere, ["rated_output_current", "rated_current"],
      "Current to the load that the device is made for (amperes)"),
    .init("output.frequency", .hertz, ["output_frequency"], "Frequency at the output (hertz)"),
    .init(
      "output.frequency.nominal", .hertz, ["rated_output_frequency", "rated_frequency"],
      "Frequency at the output that the device is made for (hertz)"),
    .init("output.voltage", .volt, ["output_voltage", "load_voltage"], "Voltage at the output (volts)"),
    .init(
      "output.voltage.nominal", .volt, ["rated_output_voltage", "rated_voltage"],
      "Voltage at the output that the device is made for (volts)"),
    .init("ups.boost", nil, ["boost"], "Whether the UPS raises the voltage of the mains"),
    .init("ups.bypass", nil, [], "Whether the mains passes around the UPS, so that the battery can't help"),
    .init("ups.calibrating", nil, [], "Whether the UPS tests or measures its battery"),
    load,
    .init("ups.low_battery", nil, [], "Whether the UPS says that its battery is low"),
    .init("ups.off", nil, [], "Whether the UPS supplies no power to its load"), onBattery,
    .init("ups.overload", nil, ["overload"], "Whether the load is more than the UPS can supply"),
    .init("ups.power", .voltAmpere, ["apparent_power"], "Apparent power to the load (volt-amperes)"),
    .init(
      "ups.power.nominal", .voltAmpere, ["rated_apparent_power"],
      "Apparent power that the device is made for (volt-amperes)"),
    .init("ups.realpower", .watt, ["output_power", "load_power"], "Real power to the load (watts)"),
    .init("ups.realpower.nominal", .watt, ["rated_power"], "Real power that the device is made for (watts)"),
    .init("ups.shutting_down", nil, [], "Whether the UPS is about to switch off its load"),
    .init(
      "ups.temperature", .celsius, ["temperature", "heat_sink_temperature"],
      "Temperature of the device (degrees Celsius)"),
    .init("ups.trim", nil, ["buck"], "Whether the UPS lowers the voltage of the mains"),
  ]
}

extension ValuesReading {
  /// Whether the value with this role is true; nil where it isn't known.
  package func flag(_ role: AccessoryValue.Role) -> Bool? {
    guard let term = Vocabulary.roles.first(where: { $0.role == role }),
      case .flag(let isTrue)? = value(term)?.content
    else { return nil }
    return isTrue
  }

  /// The known value with a role: one that has it, or else the first of its older names that has no other role.
  package func value(_ term: RoleTerm) -> AccessoryValue? {
    for entry in entries where entry.value.role == term.role && term.fits(entry.value) { return entry.value }
    for name in term.olderNames {
      if let value = self[name]?.value, value.role == nil, term.fits(value) { return value }
    }
    return nil
  }
}
