// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryExport

/// A row of the vocabulary is all that NUT and metrics need: each test fails for a row that one of them leaves out.
@Suite("NUT and metrics have what the vocabulary has") struct VocabularyExportTests {
  @Test(arguments: Vocabulary.battery.indices) func everyBatteryTermIsAVariableOfNUT(_ index: Int) throws {
    let term = Vocabulary.battery[index]
    let reading = term.sampleReading
    let accessory = ReadingsSnapshot.sample(battery: reading).accessories[0]
    let variables = UPSVariables(accessory, isUPS: false, version: "1")
    let nothing = UPSVariables(
      ReadingsSnapshot.sample(battery: BatteryReading()).accessories[0], isUPS: false, version: "1")
    let new = Set(variables.all.map(\.name)).subtracting(nothing.all.map(\.name)).subtracting(["battery.charge.low"])
    #expect(new == Set([term.nut?.name].compactMap { $0 }))
    guard let nut = term.nut else { return }
    #expect(UPSVariables.summary(of: nut.name) == nut.summary)
    if let value = term.value(in: reading) {
      #expect(variables[nut.name]?.value == Decimal.text(value, places: nut.places))
    }
  }

  @Test(arguments: Vocabulary.ownRows) func everyBatteryTermIsAMetric(_ index: Int) throws {
    let term = Vocabulary.battery[index]
    let metric = try #require(term.metric)
    let families = AccessoryMetrics.families(
      ReadingsSnapshot.sample(battery: term.sampleReading), now: MonotonicTime(nanoseconds: 7_500_000_000),
      wallClock: 1, version: "1")
    let family = try #require(families.first { $0.name == metric.name })
    #expect(family.help == metric.help && !family.samples.isEmpty)
    // The name ends with the unit, as OpenMetrics wants it.
    if let unit = family.unit { #expect(family.name.hasSuffix("_" + unit)) }
    if case .count(let each, let label, _) = metric.samples {
      #expect(families.first { $0.name == each }?.samples.first?.labels.contains { $0.name == label } == true)
    }
    // Of nothing else there is a metric.
    let others = Vocabulary.battery.compactMap(\.metric?.name).filter { $0 != metric.name }
    #expect(families.allSatisfy { !others.contains($0.name) || $0.samples.isEmpty })
  }

  @Test(arguments: Vocabulary.status.indices) func everyStatusTermIsAMetric(_ index: Int) throws {
    let term = Vocabulary.status[index]
    var status = AccessoryStatus()
    term.fill(&status)
    let snapshot = ReadingsSnapshot.sample { $0.status = status }
    let families = AccessoryMetrics.families(
      snapshot, now: MonotonicTime(nanoseconds: 7_500_000_000), wallClock: 1, version: "1")
    #expect(families.first { $0.name == term.metric?.name }?.samples.isEmpty == false)
  }

  /// Whatever a value is called, NUT finds it by its role; without a role by the names that it had before there were roles.
  @Test(arguments: Vocabulary.roles.indices) func valuesAreVariablesByTheirRole(_ index: Int) throws {
    let term = Vocabulary.roles[index]
    func value(_ name: String, _ role: AccessoryValue.Role?) -> AccessoryValue {
      AccessoryValue(name, unit: term.unit, role: role, content: term.unit == nil ? .flag(true) : .number(42))
    }
    func isFound(_ values: [AccessoryValue]) -> Bool {
      let accessory = ReadingsSnapshot.sample(battery: nil, values: values).accessories[0]
      guard term.unit != nil else {
        return UPSStatus(accessory, isUPS: true).words.contains { $0.role == term.role }
      }
      let variables = UPSVariables(accessory, isUPS: false, version: "1")
      #expect(UPSVariables.summary(of: term.role.rawValue) == term.summary)
      return variables[term.role.rawValue]?.value == "42"
    }
    #expect(isFound([value("netzspannung", term.role)]))
    #expect(!isFound([value("netzspannung", nil)]))
    for name in term.olderNames {
      #expect(isFound([value(name, nil)]))
      #expect(!isFound([value(name, "another.role")]))
    }
    if let unit = term.unit {
      // A number in another unit isn't what NUT wants.
      let wrong = AccessoryValue("x", unit: unit == .volt ? .millivolt : .volt, role: term.role, number: 42)
      #expect(!isFound([wrong]))
    }
  }

  @Test func noOlderNameStandsForTwoRoles() {
    let names = Vocabulary.roles.flatMap(\.olderNames)
    #expect(Set(names).count == names.count)
    #expect(Vocabulary.roles.map(\.role.rawValue) == Vocabulary.roles.map(\.role.rawValue).sorted())
  }

  /// A value with the role counts, even if another one has an older name of it.
  @Test func aRoleComesBeforeAName() {
    let values: [AccessoryValue] = [
      .init("load", unit: .percent, number: 1), .init("ac_load", unit: .percent, role: "ups.load", number: 2),
    ]
    let variables = UPSVariables(
      ReadingsSnapshot.sample(battery: nil, values: values).accessories[0], isUPS: false, version: "1")
    #expect(variables["ups.load"]?.value == "2")
  }
}
