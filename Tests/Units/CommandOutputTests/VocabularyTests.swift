// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import CommandOutput
import TestSupport
import Testing

/// A row of the vocabulary is all that `battery` needs: a test fails for a row that isn't shown.
@Suite("People and scripts see what the vocabulary has") struct VocabularyOutputTests {
  @Test(arguments: Vocabulary.ownRows) func everyBatteryTermIsShownInEachForm(_ index: Int) throws {
    let term = Vocabulary.battery[index]
    let reading = term.sampleReading
    let (line, facts) = (BatteryView.line(reading, Samples.pipe), BatteryDetails.facts(reading, Samples.pipe))
    let nothing = BatteryView.line(BatteryReading(), Samples.pipe)
    #expect((line != nothing) == term.isInLine)
    #expect(facts.isEmpty == term.isInLine)
    let table = BatteryTable.lines([(id: "a", battery: Read(reading), supply: nil, problem: nil)], Samples.pipe)
    if let column = term.column {
      let text = try #require(ReadingText.text(term, of: reading))
      #expect(table[0].contains(column.title) && table[1].contains(text))
    }
    // What `print` shows, for Swift programs.
    if term.isInLine { #expect(reading.description != BatteryReading().description) }
    let json = try #require(DocumentText.line(reading))
    #expect(json.contains("\"\(term.key)\":") && !json.contains("\"\(term.key)\":null"))
  }

  @Test(arguments: Vocabulary.status.indices) func everyStatusTermIsShownInEachForm(_ index: Int) throws {
    let term = Vocabulary.status[index]
    var status = AccessoryStatus()
    term.fill(&status)
    #expect(StatusView.facts(status).contains { $0.0 == term.label })
    let json = try #require(DocumentText.line(status))
    #expect(json.contains("\"\(term.key)\":") && !json.contains("\"\(term.key)\":null"))
  }

  @Test func seriesHaveTheLabelsOfTheirQuantities() {
    for term in Vocabulary.kept { #expect(ReadingLabel.text(series: term.series ?? "") == term.label) }
    #expect(ReadingLabel.text(series: "input_voltage") == "Input voltage")
  }

  @Test func theTablesColumnsGoByImportance() {
    let rows = [
      (id: "a", battery: Optional(Read(BatteryReading(percent: 5))), supply: ReadValues?.none, problem: String?.none)
    ]
    let titles = BatteryTable.lines(rows, Samples.pipe)[0].split(separator: " ", omittingEmptySubsequences: true)
    #expect(titles.joined(separator: " ") == "ACCESSORY CHARGE LEVEL VOLTAGE CURRENT STATE TO EMPTY")
    // Where not all fit, the least important one goes first.
    let narrow = BatteryTable.lines(rows, Samples.pipe, columns: 40)[0]
    #expect(narrow.contains("CHARGE") && !narrow.contains("TO EMPTY"))
  }
}
