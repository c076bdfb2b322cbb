// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

/// One table has the units for alarms, metrics and descriptions.
@Suite struct MeasurementUnitTests {
  /// Decimal numbers stay decimal, so that a limit of 3.711 V isn't exceeded by 3711 mV.
  @Test(arguments: [
    (MeasurementUnit.millivolt, 3_711, MeasurementUnit.volt, 3.711), (.volt, 3.711, .millivolt, 3_711),
    (.milliampereHour, 3_703, .ampereHour, 3.703), (.kilowattHour, 1.5, .wattHour, 1_500), (.minute, 90, .hour, 1.5),
    (.kilometrePerHour, 36, .metrePerSecond, 10), (.hectopascal, 1_013.25, .bar, 1.01325),
    (.kelvin, 293.15, .celsius, 20), (.celsius, 20, .kelvin, 293.15), (.kibibyte, 2, .byte, 2_048),
  ]) func conversions(from: MeasurementUnit, number: Double, to: MeasurementUnit, expected: Double) {
    #expect(from.convert(number, to: to) == expected)
    #expect(from.measuresLike(to))
  }

  /// A degree is as far as a kelvin.
  @Test func differences() { #expect(MeasurementUnit.celsius.convert(difference: 2, to: .kelvin) == 2) }

  /// Only what measures the same is compared, although the metrics of some units share a base unit.
  @Test(arguments: [
    (MeasurementUnit.percent, MeasurementUnit.partPerMillion), (.volt, .ampere), (.decibel, .decibelMilliwatt),
    ("furlong", .metre), ("furlong", "mile"), (.watt, .voltAmpere),
  ]) func otherThings(one: MeasurementUnit, other: MeasurementUnit) {
    #expect(!one.measuresLike(other) && one.convert(1, to: other) == nil)
    #expect(one.measuresLike(one) && one.convert(1, to: one) == 1)
  }

  /// Each unit that a person may type has a row.
  @Test func known() {
    #expect(MeasurementUnit.known.allSatisfy { $0.scale != nil && MeasurementUnit(typed: $0.rawValue) == $0 })
    #expect(Set(MeasurementUnit.known).count == MeasurementUnit.known.count && MeasurementUnit(typed: "furlong") == nil)
  }
}
