// SPDX-License-Identifier: Apache-2.0

/// A quantity that values measure: a row of the vocabulary.
package struct QuantityTerm: Sendable {
  package let quantity: AccessoryValue.Quantity
  /// Units that imply the quantity, where nobody says what a value measures.
  package let implyingUnits: [MeasurementUnit]
  /// Other units of the quantity, which may measure something else, too.
  package let otherUnits: [MeasurementUnit]
  /// The device class of Home Assistant; nil where there is none. A class with a unit that it doesn't allow is an error there; these
  /// units are allowed (`DEVICE_CLASS_UNITS` in homeassistant/components/sensor/const.py). Classes that Home Assistant 2025.3 doesn't
  /// have are left out.
  package let deviceClass: String?
  package let stateClass: String
  /// What its numbers can be, in the first of the units; nil where they can be anything.
  package let plausible: PlausibleRange?

  /// Where Home Assistant has a class, its word is usually the quantity's.
  fileprivate init(
    _ quantity: AccessoryValue.Quantity, _ implyingUnits: MeasurementUnit..., also otherUnits: [MeasurementUnit] = [],
    hasClass: Bool = true, class deviceClass: String? = nil, state: String = "measurement",
    plausible: ClosedRange<Double>? = nil, overrun: Double = 0
  ) {
    self.plausible = plausible.map { PlausibleRange($0, overrun: overrun) }
    (self.quantity, self.implyingUnits, self.otherUnits, stateClass) = (quantity, implyingUnits, otherUnits, state)
    self.deviceClass = hasClass ? deviceClass ?? quantity.rawValue : nil
  }
}

extension Vocabulary {
  /// The quantities with units.
  package static let quantities: [QuantityTerm] = [
    .init(.voltage, .volt, .millivolt, plausible: -3_000...3_000),
    .init(.current, .ampere, .milliampere, plausible: -3_000...3_000),
    .init(.power, .watt, .kilowatt, plausible: -1e7...1e7), .init(.apparentPower, .voltAmpere, plausible: -1e7...1e7),
    .init(.reactivePower, .voltAmpereReactive, plausible: -1e7...1e7),
    // A counter, which may begin again from 0.
    .init(.energy, .wattHour, .kilowattHour, state: "total_increasing"),
    .init(.powerFactor, also: [.percent], plausible: -100...100),
    .init(.charge, .ampereHour, .milliampereHour, hasClass: false), .init(.resistance, .ohm, hasClass: false),
    .init(.frequency, .hertz),
    // Of anything: outdoor air, ovens, exhausts. A description narrows it.
    .init(.temperature, .celsius, plausible: -100...2_000),
    .init(.humidity, also: [.percent], plausible: 0...100, overrun: 10),
    .init(.pressure, .hectopascal, .bar, also: [.pascal]), .init(.illuminance, .lux),
    .init(.pm1, also: [.microgramPerCubicMetre]), .init(.pm25, also: [.microgramPerCubicMetre]),
    .init(.pm10, also: [.microgramPerCubicMetre]), .init(.carbonDioxide, .partPerMillion),
    .init(.speed, .metrePerSecond, .kilometrePerHour), .init(.rotation, .revolutionPerMinute, hasClass: false),
    .init(.distance, .metre, .kilometre, also: [.millimetre, .centimetre]),
    .init(.duration, .millisecond, .second, .minute, .hour, also: [.day]), .init(.mass, .kilogram, also: [.gram]),
    // The class "volume" is for meters and allows no measurement.
    .init(.volume, also: [.litre], class: "volume_storage"), .init(.loudness, .decibel),
    .init(.signalStrength, .decibelMilliwatt, also: [.decibel]),
    .init(.dataSize, also: [.byte, .kilobyte, .kibibyte]), .init(.dataRate, also: [.bitPerSecond]),
  ]

  private static let quantitiesByUnit: [MeasurementUnit: AccessoryValue.Quantity] = .init(
    uniqueKeysWithValues: quantities.flatMap { term in term.implyingUnits.map { ($0, term.quantity) } })

  private static let termsByQuantity: [AccessoryValue.Quantity: QuantityTerm] = .init(
    uniqueKeysWithValues: quantities.map { ($0.quantity, $0) })

  /// The quantity that a unit implies; nil where it may measure several.
  package static func quantity(impliedBy unit: MeasurementUnit) -> AccessoryValue.Quantity? { quantitiesByUnit[unit] }

  /// The row of a quantity; nil for one without units.
  package static func term(_ quantity: AccessoryValue.Quantity) -> QuantityTerm? { termsByQuantity[quantity] }
}
