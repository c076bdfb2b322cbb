// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// A row of the vocabulary is all that descriptions need: a test fails for a row that can't be described.
@Suite("Descriptions have the names of the vocabulary") struct VocabularyDescribedTests {
  /// The value, as a description decodes it in the row's first unit.
  private func sample<Reading>(_ term: ReadingTerm<Reading>, _ part: String) -> DescribedValue? {
    guard let described = term.described else { return nil }
    let content: PlainValue =
      switch term.form {
      case .number(let measure, _, _): .number(measure.value(term.sample))
      case .word(let words, _, _): .text(words[0])
      case .list(let measure, _, _, _, _): .list([.number(measure.value(term.sample)), .nothing])
      case .names: .list([.text("overheated")])
      }
    return DescribedValue(part + described.name, content, unit: described.units.first?.rawValue)
  }

  @Test(arguments: Vocabulary.ownRows) func everyBatteryTermIsReadFromADescription(_ index: Int) throws {
    let term = Vocabulary.battery[index]
    let value = try #require(sample(term, "battery."))
    #expect(CommonValues.names.contains(value.name) && DescribedPart.isBattery(value.name))
    let reading = BatteryReading(described: [value], derived: [])
    #expect(term.isKnown(in: reading))
    #expect(reading.derived.isSubset(of: [.level]))
    if term.count(in: term.sampleReading) != nil { #expect(term.count(in: reading) == term.sample) }
    let derived = BatteryReading(described: [], derived: [value]).derived
    #expect(derived.map(\.rawValue).contains(term.key))
    let isValueToo = term.described?.isValueToo == true
    #expect(AccessoryValue.all(described: [value], derived: []).count == (isValueToo ? 1 : 0))
    #expect(DescribedPart.isValue(value.name) == isValueToo)
    // The same number in each other unit that a description may say.
    for unit in (term.described?.units ?? []).dropFirst() {
      let factor = try #require(term.measure?.factor(from: unit.rawValue))
      #expect(factor != term.measure?.factor(from: value.unit), "\(unit)")
    }
  }

  /// Traces have the published names and units beside the description's.
  @Test(arguments: Vocabulary.ownRows) func tracesHaveThePublishedNamesAndUnits(_ index: Int) throws {
    let term = Vocabulary.battery[index]
    let fields = FrameField.battery([try #require(sample(term, "battery."))])
    guard case .number = term.form else { return #expect(fields.isEmpty) }
    #expect(fields == [FrameField(term.key, term.sample)])
    let own = try #require(BatteryReading.Field(rawValue: term.key))
    #expect(FrameField.battery(own, 7).map(\.name) == [term.key] + [term.trace].compactMap { $0 })
    #expect(FrameField.battery(own, nil as Int?).isEmpty)
  }

  @Test func namedAndListedTemperaturesAreRead() {
    let reading = BatteryReading(
      described: [
        DescribedValue("battery.temperature", .number(20.5), unit: "°C"),
        DescribedValue("battery.temperature.mosfet", .whole(30), unit: "°C"),
        DescribedValue("battery.temperatures", .list([.whole(1), .nothing]), unit: "°C"),
      ], derived: [])
    #expect(reading.temperatures == [.init(20_500), .init(30_000, name: "mosfet"), .init(1_000), .init(nil)])
    #expect(!DescribedPart.isBattery("battery.voltage.mosfet") && !DescribedPart.isBattery("battery.colour"))
  }

  /// Descriptions had the power as a value before it was a quantity of the battery: alarms, histories and dashboards name it so.
  @Test func aPowerIsAQuantityOfTheBatteryAndAValue() throws {
    let power = DescribedValue("battery.power", .whole(-106), unit: "W")
    #expect(BatteryReading(described: [power], derived: []).milliwatts == -106_000)
    let value = try #require(AccessoryValue.all(described: [power], derived: []).first)
    #expect(value.name == "battery_power" && value.number == -106 && value.unit == .watt && value.quantity == .power)
    #expect(BatteryReading(described: [], derived: [power]).derived == [.power])
  }

  @Test(
    arguments: [("V", 12_000), ("mV", 12), (nil, 12_000)] as [(String?, Int)])
  func voltagesAreConvertedFromTheirUnit(unit: String?, millivolts: Int) {
    let value = DescribedValue("battery.voltage", .whole(12), unit: unit)
    #expect(BatteryReading(described: [value], derived: []).millivolts == millivolts)
  }

  @Test(arguments: [("s", 120), ("min", 7_200), ("h", 432_000), ("ms", 0), (nil, 120)] as [(String?, Int)])
  func timesAreConvertedFromTheirUnit(unit: String?, seconds: Int) {
    let value = DescribedValue("battery.time_to_empty", .whole(120), unit: unit)
    #expect(BatteryReading(described: [value], derived: []).timeToEmpty == .seconds(seconds))
  }

  @Test(arguments: Vocabulary.status.indices) func everyStatusTermIsReadFromADescription(_ index: Int) throws {
    let term = Vocabulary.status[index]
    let value = try #require(sample(term, "status."))
    #expect(CommonValues.names.contains(value.name) && DescribedPart.isStatus(value.name))
    #expect(term.isKnown(in: AccessoryStatus(described: [value])))
  }
}
