// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The base units of Prometheus' conventions, and how the units of our values are converted to them.
enum BaseUnit {
  /// The base unit's name, and what a number in `unit` is multiplied by; nil for units that no base unit is known for.
  static func of(_ unit: MeasurementUnit) -> (name: String, factor: Double)? { units[unit] }

  private static let units: [MeasurementUnit: (String, Double)] = [
    .volt: ("volts", 1), .millivolt: ("volts", 0.001), .ampere: ("amperes", 1), .milliampere: ("amperes", 0.001),
    .watt: ("watts", 1), .kilowatt: ("watts", 1_000), .voltAmpere: ("voltamperes", 1),
    .voltAmpereReactive: ("voltamperes_reactive", 1), .wattHour: ("joules", 3_600),
    .kilowattHour: ("joules", 3_600_000), .kilovoltAmpereReactiveHour: ("voltampere_reactive_seconds", 3_600_000),
    .ampereHour: ("coulombs", 3_600), .milliampereHour: ("coulombs", 3.6), .ohm: ("ohms", 1),
    .milliohm: ("ohms", 0.001), .hertz: ("hertz", 1), .millisecond: ("seconds", 0.001), .second: ("seconds", 1),
    .minute: ("seconds", 60), .hour: ("seconds", 3_600), .day: ("seconds", 86_400), .millimetre: ("meters", 0.001),
    .centimetre: ("meters", 0.01), .metre: ("meters", 1), .kilometre: ("meters", 1_000),
    .metrePerSecond: ("meters_per_second", 1), .kilometrePerHour: ("meters_per_second", 1 / 3.6),
    .degree: ("degrees", 1), .degreePerSecond: ("degrees_per_second", 1),
    .revolutionPerMinute: ("revolutions_per_second", 1 / 60.0), .celsius: ("celsius", 1), .kelvin: ("kelvin", 1),
    .percent: ("ratio", 0.01), .hectopascal: ("pascals", 100), .pascal: ("pascals", 1), .bar: ("pascals", 100_000),
    .lux: ("lux", 1), .microgramPerCubicMetre: ("grams_per_cubic_meter", 1e-6), .partPerMillion: ("ratio", 1e-6),
    .gram: ("grams", 1), .kilogram: ("grams", 1_000), .litre: ("cubic_meters", 0.001), .decibel: ("decibels", 1),
    .decibelMilliwatt: ("decibel_milliwatts", 1), .byte: ("bytes", 1), .kilobyte: ("bytes", 1_000),
    .kibibyte: ("bytes", 1_024), .bitPerSecond: ("bytes_per_second", 0.125),
  ]

  /// A number in the base unit. Division by a power of ten keeps decimal numbers decimal: 3712 mV are 3.712 V.
  static func convert(_ number: Double, factor: Double) -> Double {
    if factor < 1, (1 / factor).rounded() == 1 / factor { return number / (1 / factor).rounded() }
    let tenths = factor * 10
    return factor.rounded() != factor && tenths.rounded() == tenths ? number * tenths / 10 : number * factor
  }

  /// A whole number of a reading in the base unit; as it is where its unit has none.
  static func convert(_ count: Int, _ measure: Measure?) -> Double {
    guard let measure, let base = measure.unit.flatMap(of) else { return Double(count) }
    return convert(Double(count), factor: measure.places == 0 ? base.factor : base.factor / 1_000)
  }
}
