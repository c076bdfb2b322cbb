// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@Suite struct AccessoryValueTests {
  @Test func whatIsNoNumberIsUnknown() {
    let value = AccessoryValue("pv_voltage", quantity: .voltage, unit: .volt, number: 36.2)
    #expect(value.content == .number(36.2) && value.number == 36.2 && !value.isDerived)
    #expect(value.quantity?.rawValue == "voltage" && value.unit?.rawValue == "V")
    for number in [nil, Double.nan, .infinity, -.infinity] {
      let unknown = AccessoryValue("pv_voltage", quantity: .voltage, unit: .volt, number: number)
      #expect(unknown.content == nil && unknown.number == nil && unknown.name == "pv_voltage")
    }
    #expect(AccessoryValue("mode", quantity: .state, content: .choice(word: "bulk", number: 3)).number == 3)
    #expect(AccessoryValue("on", quantity: .state, content: .flag(true)).number == nil)
    #expect(AccessoryValue("x", content: .number(.nan)).bounded.content == nil)
  }

  /// Steps of a tenth and a hundredth are as they are written.
  @Test func decimalsAreExactlyAsTheyAreWritten() {
    #expect(AccessoryValue.Content.decimal(33, places: 1) == .number(3.3))
    #expect(33 * 0.1 != 3.3)
    #expect(AccessoryValue.Content.decimal(-1_234, places: 2) == .number(-12.34))
    #expect(AccessoryValue.Content.decimal(12, places: 0) == .number(12))
    #expect(AccessoryValue.Content.decimal(12, places: -2) == .number(1_200))
    for places in [Int.min, .max] {
      guard case .number(let number) = AccessoryValue.Content.decimal(.max, places: places) else { continue }
      #expect(number.isFinite)
    }
  }

  @Test func aValueIsCutToItsBounds() {
    let long = String(repeating: "ä", count: 1_000)
    let cut = AccessoryValue(
      "x" + long, quantity: .init(rawValue: long), unit: MeasurementUnit(rawValue: long),
      content: .choice(word: long, number: 1),
      isDerived: true
    ).bounded
    #expect(cut.name == "x" + String(repeating: "ä", count: 31) && cut.isDerived)
    #expect(cut.quantity?.rawValue.utf8.count == 32 && cut.unit?.rawValue.utf8.count == 16)
    #expect(cut.content == .choice(word: String(repeating: "ä", count: 128), number: 1))
    #expect(AccessoryValue("a", content: .text(long)).bounded.content == .text(String(repeating: "ä", count: 128)))
    #expect(cut.bounded == cut)
  }

  @Test func whatIsKnownIsThereOnce() {
    #expect(Set(MeasurementUnit.known).count == MeasurementUnit.known.count)
    #expect(Set(AccessoryValue.Quantity.known).count == AccessoryValue.Quantity.known.count)
    #expect(MeasurementUnit.known.allSatisfy { $0.rawValue.utf8.count <= ReadingLimits.unitBytes })
    #expect(AccessoryValue.Quantity.known.allSatisfy { $0.rawValue.utf8.count <= ReadingLimits.quantityBytes })
  }
}

@Suite struct ValuesReadingTests {
  private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

  /// Each value has its own age; what is told anew takes the place of what was.
  @Test func eachValueHasItsAge() throws {
    let (volts, amperes) = (
      AccessoryValue("u", quantity: .voltage, unit: .volt, number: 12),
      AccessoryValue("i", quantity: .current, unit: .ampere, number: 1)
    )
    var reading = ValuesReading([volts, amperes], at: time(10))
    #expect(reading.values == [volts, amperes])
    let other = AccessoryValue("u", quantity: .voltage, unit: .volt, number: nil)
    #expect(reading.take([other], at: time(15)) == [other])
    #expect(reading.values == [other, amperes])
    #expect(reading["u"]?.age(time(17)) == .seconds(2) && reading["i"]?.age(time(17)) == .seconds(7))
    // Never negative, whatever the clock says.
    #expect(reading["u"]?.age(time(1)) == .zero && reading["x"] == nil)
    // What is the same is not news, but it is fresh.
    #expect(reading.take([amperes, volts], at: time(20)) == [volts])
    #expect(reading["i"]?.age(time(20)) == .zero)
  }

  @Test func itDoesNotGrow() {
    var reading = ValuesReading((0..<300).map { AccessoryValue("v\($0)", number: Double($0)) }, at: time(0))
    #expect(reading.values.count == 255)
    #expect(reading.take([AccessoryValue("w", number: 1)], at: time(1)) == [])
    // Those that are there go on being told, and names that are cut are one.
    #expect(reading.take([AccessoryValue("v254", number: 1)], at: time(1)).count == 1)
    let long = String(repeating: "x", count: 64)
    var cut = ValuesReading()
    cut.take([AccessoryValue(long + "a", number: 1), AccessoryValue(long + "b", number: 2)], at: time(0))
    #expect(cut.values == [AccessoryValue(long, number: 2)])
  }
}
