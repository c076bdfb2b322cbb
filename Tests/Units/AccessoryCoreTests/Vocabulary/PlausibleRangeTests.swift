// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryCore

/// What can't be is unknown, in every reading.
@Suite struct PlausibleRangeTests {
  /// The numbers by which accessories say "unknown", in the scales that they have.
  @Test(
    arguments: [
      (.percent, 255), (.percent, 150), (.percent, 111), (.percent, -1), (.health, 255), (.voltage, 6_553_500),
      (.voltage, -1), (.current, 3_276_700), (.current, -3_276_800), (.remainingCapacity, -1),
      (.remainingCapacity, 65_535_000), (.fullCapacity, 0), (.fullCapacity, -5_000), (.cycles, 65_535), (.cycles, -1),
      (.timeToEmpty, 4_294_967_295),
    ] as [(BatteryReading.Field, Int)])
  func aNumberThatCantBeIsUnknown(field: BatteryReading.Field, count: Int) {
    var reading = BatteryReading()
    reading[field] = count
    #expect(reading[field] == nil)
    // As a driver makes it.
    switch field.term.form {
    case .number(_, _, let set): set(&reading, count)
    case .word, .list, .names: break
    }
    #expect(reading.bounded[field] == nil)
  }

  @Test(
    arguments: [
      (.percent, 0), (.percent, 100), (.voltage, 0), (.voltage, 800_000), (.current, -600_000), (.remainingCapacity, 0),
      (.fullCapacity, 5_000_000), (.cycles, 8_000),
    ] as [(BatteryReading.Field, Int)])
  func aNumberThatCanBeIsTold(field: BatteryReading.Field, count: Int) {
    var reading = BatteryReading()
    reading[field] = count
    #expect(reading.bounded[field] == count)
  }

  /// A battery that counts its charge runs over a little; 150 percent are another thing.
  @Test func aLittleMoreThanAllIsAll() {
    #expect(BatteryReading(percent: 101).bounded.percent == 100)
    #expect(BatteryReading(percent: 110).bounded.percent == 100)
    #expect(BatteryReading(percent: 111).bounded.percent == nil)
    var health = BatteryReading()
    health.healthPercent = 104
    #expect(health.bounded.healthPercent == 100)
  }

  @Test func oneOfSeveralIsUnknownAndTheOthersStay() {
    var reading = BatteryReading(percent: 50)
    reading.cellMillivolts = [3_300, 65_535, 0, nil]
    reading.temperatures = [-273_100, 21_500, 777_000, -40_000].map { .init($0) }
    #expect(reading.bounded.cellMillivolts == [3_300, nil, 0, nil])
    #expect(reading.bounded.temperatures.map(\.millidegrees) == [nil, 21_500, nil, -40_000])
  }

  @Test(
    arguments: [
      (.celsius, 3_276.7), (.celsius, -273.1), (.volt, 6_553.5), (.millivolt, 6_553_500), (.ampere, -3_276.8),
      (.percent, 255), (.watt, 4_294_967_295), (.volt, .nan), (.volt, .infinity),
    ] as [(MeasurementUnit, Double)])
  func aValueThatCantBeIsUnknown(unit: MeasurementUnit, number: Double) {
    #expect(AccessoryValue("a", unit: unit, content: .number(number)).bounded.content == nil)
  }

  @Test(
    arguments: [
      (.celsius, 900), (.volt, 230), (.millivolt, 53_000), (.percent, -100), (.watt, 65_535), (.kilowattHour, 1e9),
    ] as [(MeasurementUnit, Double)])
  func aValueThatCanBeIsTold(unit: MeasurementUnit, number: Double) {
    #expect(AccessoryValue("a", unit: unit, content: .number(number)).bounded.number == number)
  }

  @Test func aReadingOfWhichMuchCantBeIsNotBelieved() throws {
    var reading = BatteryReading(percent: 50, millivolts: 37_400, milliamperes: 4_000_000)
    reading.temperatures = [.init(777_000)]
    let error = #expect(throws: AccessoryError.self) { try reading.believed(from: "pack") }
    #expect(error?.kind == .badData)
    #expect(error?.message.contains("current 4000 A, temperature 777 °C") == true, "\(error?.message ?? "")")
  }

  @Test func aReadingOfWhichALittleCantBeIsBelieved() throws {
    var reading = BatteryReading(percent: 50, millivolts: 37_400, milliamperes: 1_000)
    reading.temperatures = [.init(777_000)]
    let (told, implausible) = try reading.believed(from: "pack")
    #expect(told.percent == 50 && told.temperatures.map(\.millidegrees) == [nil])
    #expect(implausible == ["temperature 777 °C"])
    #expect(try BatteryReading(percent: 255).believed(from: "pack").reading.percent == nil)
  }
}
