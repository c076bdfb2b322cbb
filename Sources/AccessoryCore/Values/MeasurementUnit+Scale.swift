// SPDX-License-Identifier: Apache-2.0

// The units that this version knows, and their conversion.

extension MeasurementUnit {
  /// What numbers of a unit are in its base unit: `number * factor + offset`.
  package struct Scale: Sendable {
    /// The name of the base unit, by the conventions of Prometheus.
    package let base: String
    package let factor: Double
    /// Units of one kind can be compared with each other.
    fileprivate let kind: String
    fileprivate let offset: Double

    fileprivate init(_ base: String, _ factor: Double = 1, kind: String? = nil, offset: Double = 0) {
      (self.base, self.factor, self.kind, self.offset) = (base, factor, kind ?? base, offset)
    }
  }

  /// All units that this version knows. A unit with an offset is as large as its base unit.
  static let rows: [(unit: MeasurementUnit, scale: Scale)] = [
    (.volt, .init("volts")), (.millivolt, .init("volts", 0.001)), (.ampere, .init("amperes")),
    (.milliampere, .init("amperes", 0.001)), (.watt, .init("watts")), (.kilowatt, .init("watts", 1_000)),
    (.voltAmpere, .init("voltamperes")), (.voltAmpereReactive, .init("voltamperes_reactive")),
    (.wattHour, .init("joules", 3_600)), (.kilowattHour, .init("joules", 3_600_000)),
    (.kilovoltAmpereReactiveHour, .init("voltampere_reactive_seconds", 3_600_000)),
    (.ampereHour, .init("coulombs", 3_600)), (.milliampereHour, .init("coulombs", 3.6)), (.ohm, .init("ohms")),
    (.milliohm, .init("ohms", 0.001)), (.hertz, .init("hertz")), (.millisecond, .init("seconds", 0.001)),
    (.second, .init("seconds")), (.minute, .init("seconds", 60)), (.hour, .init("seconds", 3_600)),
    (.day, .init("seconds", 86_400)), (.millimetre, .init("meters", 0.001)), (.centimetre, .init("meters", 0.01)),
    (.metre, .init("meters")), (.kilometre, .init("meters", 1_000)), (.metrePerSecond, .init("meters_per_second")),
    (.kilometrePerHour, .init("meters_per_second", 1 / 3.6)), (.degree, .init("degrees")),
    (.degreePerSecond, .init("degrees_per_second")),
    (.revolutionPerMinute, .init("revolutions_per_second", 1 / 60.0)), (.celsius, .init("celsius")),
    (.kelvin, .init("kelvin", kind: "celsius", offset: -273.15)), (.percent, .init("ratio", 0.01, kind: "%")),
    (.hectopascal, .init("pascals", 100)), (.pascal, .init("pascals")), (.bar, .init("pascals", 100_000)),
    (.lux, .init("lux")), (.microgramPerCubicMetre, .init("grams_per_cubic_meter", 1e-6)),
    (.partPerMillion, .init("ratio", 1e-6, kind: "ppm")), (.gram, .init("grams")), (.kilogram, .init("grams", 1_000)),
    (.litre, .init("cubic_meters", 0.001)), (.decibel, .init("decibels")),
    (.decibelMilliwatt, .init("decibel_milliwatts")), (.byte, .init("bytes")), (.kilobyte, .init("bytes", 1_000)),
    (.kibibyte, .init("bytes", 1_024)), (.bitPerSecond, .init("bytes_per_second", 0.125)),
  ]

  private static let scales = Dictionary(uniqueKeysWithValues: rows.map { ($0.unit, $0.scale) })

  /// The unit's scale; nil for one that isn't known, which can only be compared with itself.
  package var scale: Scale? { Self.scales[self] }

  /// The unit of this symbol, as a person types it: "C" stands for "°C", and "ohm" for "Ω". Nil for an unknown one.
  package init?(typed symbol: String) {
    let others: [String: MeasurementUnit] = ["C": .celsius, "ohm": .ohm, "mohm": .milliohm, "l": .litre]
    let unit = others[symbol] ?? MeasurementUnit(rawValue: symbol)
    guard Self.known.contains(unit) else { return nil }
    self = unit
  }

  /// Whether numbers of both units measure the same kind of thing.
  package func measuresLike(_ other: MeasurementUnit) -> Bool {
    self == other || scale.map { $0.kind == other.scale?.kind } ?? false
  }

  /// The number of this unit in another one; nil where that isn't possible. A kelvin is a temperature above absolute
  /// zero here.
  package func convert(_ number: Double, to other: MeasurementUnit) -> Double? {
    if self == other { return number }
    guard let (from, to) = pair(other) else { return nil }
    return Self.multiply(number, by: from.factor / to.factor) + from.offset - to.offset
  }

  /// A difference of two numbers of this unit in another one: a degree Celsius is as far as a kelvin.
  package func convert(difference: Double, to other: MeasurementUnit) -> Double? {
    if self == other { return difference }
    guard let (from, to) = pair(other) else { return nil }
    return Self.multiply(difference, by: from.factor / to.factor)
  }

  private func pair(_ other: MeasurementUnit) -> (from: Scale, to: Scale)? {
    guard let from = scale, let to = other.scale, from.kind == to.kind else { return nil }
    return (from, to)
  }

  /// A number of another unit. Division by a power of ten keeps decimal numbers decimal: 3712 mV are 3.712 V.
  package static func multiply(_ number: Double, by factor: Double) -> Double {
    if factor < 1, (1 / factor).rounded() == 1 / factor { return number / (1 / factor).rounded() }
    let tenths = factor * 10
    return factor.rounded() != factor && tenths.rounded() == tenths ? number * tenths / 10 : number * factor
  }
}
