// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryCore

/// The vocabulary itself, and its readers in this room. Each other room that reads it has a test of its own over all rows.
@Suite("One row says everything of a quantity") struct VocabularyTests {
  @Test func everyFieldOfABatteryHasOneRow() {
    #expect(Vocabulary.battery.map(\.key).sorted() == BatteryReading.Field.allCases.map(\.rawValue).sorted())
    for field in BatteryReading.Field.allCases { #expect(field.term.key == field.rawValue) }
    #expect(
      Vocabulary.shown.map(\.key) == BatteryReading.Field.allCases.map(\.rawValue).filter { $0 != "percent_tenths" })
  }

  @Test func noNameStandsForTwoQuantities() {
    let (battery, status) = (Vocabulary.battery, Vocabulary.status)
    func isUnique(_ names: [String?]) -> Bool {
      let names = names.compactMap { $0 }
      return Set(names).count == names.count
    }
    #expect(isUnique(battery.map(\.key) + status.map(\.key)))
    #expect(isUnique(battery.map(\.label)) && isUnique(status.map(\.label)))
    #expect(isUnique(battery.flatMap { [$0.described?.name, $0.described?.element] }))
    #expect(isUnique(battery.map(\.trace) + battery.map(\.key)))
    #expect(isUnique((battery.map(\.alarms) + status.map(\.alarms)).joined().map(\.phrase)))
    #expect(isUnique(battery.map(\.series)))
    #expect(isUnique(battery.map(\.nut?.name)))
    #expect(isUnique(battery.map(\.metric?.name) + status.map(\.metric?.name)))
    #expect(isUnique((battery.map(\.entities) + status.map(\.entities)).joined().map(\.key)))
  }

  /// A row that reads another property than it writes, or none, fails.
  @Test(arguments: Vocabulary.battery.indices) func whatARowWritesItReads(_ index: Int) {
    let term = Vocabulary.battery[index]
    var reading = BatteryReading()
    #expect(!term.isKnown(in: reading))
    term.fill(&reading)
    #expect(term.isKnown(in: reading))
    for other in Vocabulary.battery where other.key != term.key {
      #expect(!other.isKnown(in: reading), "\(term.key) also sets \(other.key)")
    }
    #expect(reading.bounded == reading)
    if let count = term.count(in: reading) {
      #expect(count == term.sample)
    }
  }

  @Test(arguments: Vocabulary.battery.indices) func everyLimitIsKept(_ index: Int) throws {
    let term = Vocabulary.battery[index]
    guard let range = term.measure?.range else { return }
    // Up to 110 percent are 100.
    for wrong in [range.lowerBound - 1, range.upperBound + 11] {
      var reading = BatteryReading()
      switch term.form {
      case .number(_, _, let set): set(&reading, wrong)
      case .list(_, _, _, _, let set): set(&reading, [ReadingElement(wrong)])
      case .word, .names: return
      }
      #expect(term.count(in: reading.bounded) == nil)
      #expect(term.elements(in: reading.bounded).allSatisfy { $0.count == nil })
    }
  }

  @Test(arguments: Vocabulary.battery.indices) func theHistoryKeepsWhatHasASeries(_ index: Int) throws {
    let term = Vocabulary.battery[index]
    var reading = BatteryReading()
    term.fill(&reading)
    let kept = reading.historyValues
    #expect(kept.map(\.name) == [term.series].compactMap { $0 })
    if term.series != nil {
      #expect(kept.map(\.value) == [term.value(in: reading)])
      #expect(kept.map(\.unit) == [term.measure?.unit?.rawValue])
    }
  }

  @Test(arguments: Vocabulary.battery.indices) func rulesOfAlarmsKnowEachPhrase(_ index: Int) throws {
    let term = Vocabulary.battery[index]
    var reading = BatteryReading()
    term.fill(&reading)
    let readings = AlarmReadings(battery: reading)
    for alarm in term.alarms {
      let part = try #require(AlarmSubject.Part(rawValue: alarm.phrase))
      #expect(AlarmSubject.Part.allCases.contains(part) && part.unit == term.measure?.unit)
      let rule = try AlarmRule("\(alarm.phrase) = \(part.words?[0] ?? "1 \(part.unit?.rawValue ?? "")")")
      #expect(rule.description.contains(alarm.phrase))
      #expect(readings.value(.part(part), isBelow: false)?.content != nil, "\(alarm.phrase)")
    }
  }

  @Test func rulesKnowNothingButThePhrasesOfTheVocabulary() {
    let phrases = Vocabulary.battery.flatMap(\.alarms) + Vocabulary.status.flatMap(\.alarms)
    #expect(AlarmSubject.Part.allCases.map(\.rawValue) == phrases.map(\.phrase))
    #expect(Set(AlarmSubject.Part.allCases).count == phrases.count)
  }

  @Test func ofSeveralNumbersOneStandsForAll() {
    var reading = BatteryReading()
    reading.temperatures = [.init(21_000), .init(nil), .init(35_500), .init(19_000)]
    reading.cellMillivolts = [3_300, nil, 3_345]
    #expect(BatteryReading.Field.temperatures.term.value(in: reading) == 35.5)
    // No cell stands for all.
    #expect(BatteryReading.Field.cells.term.value(in: reading) == nil)
    let cells = BatteryReading.Field.cells.term.elements(in: reading)
    #expect(ReadingFold.least.number(of: cells) == 3_300 && ReadingFold.greatest.number(of: cells) == 3_345)
    #expect(ReadingFold.spread.number(of: cells) == 45 && ReadingFold.worst.number(of: cells, isBelow: true) == 3_300)
    #expect(ReadingFold.spread.number(of: [ReadingElement(1)]) == nil)
    #expect(ReadingFold.spread.number(of: [ReadingElement(.max), ReadingElement(.min)]) == nil)
  }

  /// A unit may imply one quantity, and each quantity with units has one row.
  @Test func quantitiesHaveTheirUnits() {
    #expect(Vocabulary.quantities.allSatisfy { AccessoryValue.Quantity.known.contains($0.quantity) })
    let units = Vocabulary.quantities.flatMap { $0.implyingUnits + $0.otherUnits }
    #expect(units.allSatisfy(MeasurementUnit.known.contains))
    #expect(Vocabulary.quantity(impliedBy: .kilowatt) == .power && Vocabulary.quantity(impliedBy: .percent) == nil)
    #expect(Vocabulary.term(.volume)?.deviceClass == "volume_storage")
    #expect(Vocabulary.term(.energy)?.stateClass == "total_increasing")
    #expect(Vocabulary.term(.charge)?.deviceClass == nil && Vocabulary.term(.identity) == nil)
  }
}

extension ReadingTerm {
  /// A possible number.
  fileprivate var sample: Int { measure.map { $0.places == 0 ? 42 : 3_345 } ?? 0 }

  /// Writes something possible.
  fileprivate func fill(_ reading: inout Reading) {
    switch form {
    case .number: set(sample, in: &reading)
    case .word(let words, _, let set): set(&reading, words[0])
    case .list(_, _, _, _, let set): set(&reading, [ReadingElement(sample - 1_000), ReadingElement(sample)])
    case .names(_, let set): set(&reading, ["overheated"])
    }
  }
}
