// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A variable of a UPS, by NUT's names.
package struct UPSVariable: Sendable, Hashable {
  /// NUT's name, such as "battery.charge".
  package var name: String
  package var value: String
  /// Whether it is a number; otherwise it is a text.
  package var isNumber: Bool
}

/// The variables of an accessory, in NUT's names and units: volts, amperes, percent, seconds, degrees Celsius, watts,
/// volt-amperes, hertz, ampere hours.
package struct UPSVariables: Sendable {
  /// The variables in the order of their names.
  package let all: [UPSVariable]

  /// The variable of this name.
  package subscript(name: String) -> UPSVariable? { all.first { $0.name == name } }

  /// The percentage from which `BatteryReading.Level` is low.
  static let lowPercent = 20

  /// The variables of an accessory. Only one that `isUPS` ever is on battery or low by its `ups.status`. `version` is
  /// this program's.
  package init(_ accessory: ExportedAccessory, isUPS: Bool, version: String) {
    var all: [String: UPSVariable] = [:]
    func text(_ name: String, _ value: String) {
      if !value.isEmpty { all[name] = UPSVariable(name: name, value: value, isNumber: false) }
    }
    func number(_ name: String, _ value: Double?, places: Int = 3) {
      guard let value, let value = Decimal.text(value, places: places) else { return }
      all[name] = UPSVariable(name: name, value: value, isNumber: true)
    }
    text("device.type", "ups")
    for prefix in ["device", "ups"] {
      text(prefix + ".mfr", accessory.manufacturer)
      text(prefix + ".model", accessory.model)
      text(prefix + ".serial", accessory.serialNumber)
    }
    text("ups.firmware", accessory.identity?.firmwareRevision ?? "")
    text("device.description", accessory.identity?.name ?? "")
    text("ups.id", accessory.id)
    text("driver.name", "accessory-bridge")
    text("driver.version", version)
    text("driver.parameter.port", accessory.device.place)
    text("ups.status", UPSStatus(accessory, isUPS: isUPS).text)
    text("ups.alarm", (accessory.battery?.faults ?? []).joined(separator: ", "))

    if let battery = accessory.battery {
      number("battery.charge", battery.percent.map(Double.init))
      if battery.percent != nil { number("battery.charge.low", Double(Self.lowPercent)) }
      number("battery.voltage", battery.millivolts.map { Double($0) / 1_000 })
      number("battery.current", battery.milliamperes.map { Double($0) / 1_000 })
      number("battery.runtime", battery[.timeToEmpty].map(Double.init))
      number("battery.temperature", (battery.temperatures.first?.millidegrees).map { Double($0) / 1_000 }, places: 1)
      number("battery.capacity", battery.fullMilliampereHours.map { Double($0) / 1_000 })
      switch battery.charge {
      case .charging: text("battery.charger.status", "charging")
      case .discharging: text("battery.charger.status", "discharging")
      case .notCharging: text("battery.charger.status", "resting")
      case .full: text("battery.charger.status", "floating")
      case .unknown: break
      }
    }
    for (name, unit, sources) in Self.measured {
      let entry = sources.lazy.compactMap { accessory.values[$0]?.value }.first { $0.number != nil && $0.unit == unit }
      number(name, entry?.number)
    }
    self.all = all.values.sorted { $0.name < $1.name }
  }

  /// The variables that are values of the accessory: NUT's name, its unit, and the names that values have in our drivers,
  /// the first that there is.
  private static let measured: [(String, MeasurementUnit, [String])] = [
    ("battery.voltage.nominal", .volt, ["rated_battery_voltage"]),
    ("input.current", .ampere, ["input_current", "grid_current"]),
    ("input.current.nominal", .ampere, ["rated_grid_current"]),
    ("input.frequency", .hertz, ["input_frequency", "grid_frequency", "frequency"]),
    ("input.power", .voltAmpere, ["input_apparent_power"]),
    ("input.realpower", .watt, ["input_power", "grid_power"]),
    ("input.voltage", .volt, ["input_voltage", "grid_voltage", "voltage"]),
    ("input.voltage.fault", .volt, ["fault_voltage"]),
    ("input.voltage.nominal", .volt, ["rated_grid_voltage"]),
    ("output.current", .ampere, ["output_current", "load_current"]),
    ("output.current.nominal", .ampere, ["rated_output_current", "rated_current"]),
    ("output.frequency", .hertz, ["output_frequency"]),
    ("output.frequency.nominal", .hertz, ["rated_output_frequency", "rated_frequency"]),
    ("output.voltage", .volt, ["output_voltage", "load_voltage"]),
    ("output.voltage.nominal", .volt, ["rated_output_voltage", "rated_voltage"]),
    ("ups.load", .percent, ["load"]),
    ("ups.power", .voltAmpere, ["apparent_power"]),
    ("ups.power.nominal", .voltAmpere, ["rated_apparent_power"]),
    ("ups.realpower", .watt, ["output_power", "load_power"]),
    ("ups.realpower.nominal", .watt, ["rated_power"]),
    ("ups.temperature", .celsius, ["temperature", "heat_sink_temperature"]),
  ]

  /// What a variable is, for `GET DESC`; nil where nothing is known of the name.
  package static func summary(of name: String) -> String? { summaries[name] }

  private static let summaries = [
    "battery.capacity": "Charge of the full battery (ampere hours)",
    "battery.charge": "Charge of the battery (percent)",
    "battery.charge.low": "Charge from which the battery counts as low (percent)",
    "battery.charger.status": "What the charger does: charging, discharging, floating or resting",
    "battery.current": "Current of the battery, negative while it discharges (amperes)",
    "battery.runtime": "Time until the battery is empty (seconds)",
    "battery.temperature": "Temperature of the battery (degrees Celsius)",
    "battery.voltage": "Voltage of the battery (volts)",
    "battery.voltage.nominal": "Voltage that the battery is made for (volts)",
    "device.description": "Name that the user gave the device",
    "device.mfr": "Manufacturer of the device",
    "device.model": "Model of the device",
    "device.serial": "Serial number of the device",
    "device.type": "Kind of the device",
    "driver.name": "Program that the readings come from",
    "driver.parameter.port": "Where the device is connected",
    "driver.version": "Version of the program that the readings come from",
    "input.current": "Current from the mains (amperes)",
    "input.current.nominal": "Current from the mains that the device is made for (amperes)",
    "input.frequency": "Frequency of the mains (hertz)",
    "input.power": "Apparent power from the mains (volt-amperes)",
    "input.realpower": "Real power from the mains (watts)",
    "input.voltage": "Voltage of the mains (volts)",
    "input.voltage.fault": "Voltage of the mains at the last fault (volts)",
    "input.voltage.nominal": "Voltage of the mains that the device is made for (volts)",
    "output.current": "Current to the load (amperes)",
    "output.current.nominal": "Current to the load that the device is made for (amperes)",
    "output.frequency": "Frequency at the output (hertz)",
    "output.frequency.nominal": "Frequency at the output that the device is made for (hertz)",
    "output.voltage": "Voltage at the output (volts)",
    "output.voltage.nominal": "Voltage at the output that the device is made for (volts)",
    "ups.alarm": "Faults",
    "ups.firmware": "Version of the device's software",
    "ups.id": "Id by which Accessory Bridge knows the device",
    "ups.load": "Load of the device (percent)",
    "ups.mfr": "Manufacturer of the device",
    "ups.model": "Model of the device",
    "ups.power": "Apparent power to the load (volt-amperes)",
    "ups.power.nominal": "Apparent power that the device is made for (volt-amperes)",
    "ups.realpower": "Real power to the load (watts)",
    "ups.realpower.nominal": "Real power that the device is made for (watts)",
    "ups.serial": "Serial number of the device",
    "ups.status": "Status of the UPS",
    "ups.temperature": "Temperature of the device (degrees Celsius)",
  ]
}

/// Numbers as decimal text, without exponents.
enum Decimal {
  /// The number with at most this many places; nil where it is not finite, or too large to be a measurement.
  static func text(_ number: Double, places: Int) -> String? {
    guard number.isFinite, abs(number) < 1e12 else { return nil }
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let digits = Int64((number * scale).rounded())
    let (whole, part) = digits.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
    var text = (digits < 0 ? "-" : "") + String(whole)
    guard part > 0 else { return text }
    var fraction = String(part)
    fraction = String(repeating: "0", count: places - fraction.utf8.count) + fraction
    while fraction.hasSuffix("0") { fraction.removeLast() }
    text += "." + fraction
    return text
  }
}
