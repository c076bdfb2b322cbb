// SPDX-License-Identifier: Apache-2.0

// Units that measure the same, and their conversion.

extension MeasurementUnit {
  /// What numbers of a unit are in the unit that all of its kind are converted to: `number * factor + offset`.
  private struct Scale {
    let kind: String
    let factor: Double
    var offset = 0.0
  }

  /// The units of which there are several for one thing. Any other unit can only be compared with itself.
  private static let scales: [MeasurementUnit: Scale] = [
    .volt: Scale(kind: "V", factor: 1), .millivolt: Scale(kind: "V", factor: 0.001),
    .ampere: Scale(kind: "A", factor: 1), .milliampere: Scale(kind: "A", factor: 0.001),
    .watt: Scale(kind: "W", factor: 1), .kilowatt: Scale(kind: "W", factor: 1_000),
    .wattHour: Scale(kind: "Wh", factor: 1), .kilowattHour: Scale(kind: "Wh", factor: 1_000),
    .ampereHour: Scale(kind: "Ah", factor: 1), .milliampereHour: Scale(kind: "Ah", factor: 0.001),
    .ohm: Scale(kind: "Ω", factor: 1), .milliohm: Scale(kind: "Ω", factor: 0.001),
    .millisecond: Scale(kind: "s", factor: 0.001), .second: Scale(kind: "s", factor: 1),
    .minute: Scale(kind: "s", factor: 60), .hour: Scale(kind: "s", factor: 3_600),
    .day: Scale(kind: "s", factor: 86_400), .millimetre: Scale(kind: "m", factor: 0.001),
    .centimetre: Scale(kind: "m", factor: 0.01), .metre: Scale(kind: "m", factor: 1),
    .kilometre: Scale(kind: "m", factor: 1_000), .metrePerSecond: Scale(kind: "m/s", factor: 1),
    .kilometrePerHour: Scale(kind: "m/s", factor: 1 / 3.6), .celsius: Scale(kind: "°C", factor: 1),
    .kelvin: Scale(kind: "°C", factor: 1, offset: -273.15), .pascal: Scale(kind: "Pa", factor: 1),
    .hectopascal: Scale(kind: "Pa", factor: 100), .bar: Scale(kind: "Pa", factor: 100_000),
    .gram: Scale(kind: "g", factor: 1), .kilogram: Scale(kind: "g", factor: 1_000),
    .byte: Scale(kind: "B", factor: 1), .kilobyte: Scale(kind: "B", factor: 1_000),
    .kibibyte: Scale(kind: "B", factor: 1_024),
  ]

  /// The unit of this symbol, as a person types it: "C" stands for "°C", and "ohm" for "Ω". Nil for an unknown one.
  package init?(typed symbol: String) {
    let others: [String: MeasurementUnit] = ["C": .celsius, "ohm": .ohm, "mohm": .milliohm, "l": .litre]
    let unit = others[symbol] ?? MeasurementUnit(rawValue: symbol)
    guard Self.known.contains(unit) else { return nil }
    self = unit
  }

  /// Whether numbers of both units measure the same kind of thing.
  package func measuresLike(_ other: MeasurementUnit) -> Bool {
    self == other || Self.scales[self].map { $0.kind == Self.scales[other]?.kind } ?? false
  }

  /// The number of this unit in another one; nil where that isn't possible. A kelvin is a temperature above absolute
  /// zero here.
  package func convert(_ number: Double, to other: MeasurementUnit) -> Double? {
    if self == other { return number }
    guard let (from, to) = pair(other) else { return nil }
    return (number * from.factor + from.offset - to.offset) / to.factor
  }

  /// A difference of two numbers of this unit in another one: a degree Celsius is as far as a kelvin.
  package func convert(difference: Double, to other: MeasurementUnit) -> Double? {
    if self == other { return difference }
    guard let (from, to) = pair(other) else { return nil }
    return difference * from.factor / to.factor
  }

  private func pair(_ other: MeasurementUnit) -> (from: Scale, to: Scale)? {
    guard let from = Self.scales[self], let to = Self.scales[other], from.kind == to.kind else { return nil }
    return (from, to)
  }
}
