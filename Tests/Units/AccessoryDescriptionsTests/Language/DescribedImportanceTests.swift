// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// How much values of descriptions matter to people.
@Suite struct DescribedImportanceTests {
  @Test(
    arguments: [
      (
        "{name: a, type: u8, importance: headlin}",
        "importance must be headline, shown, detail, setting, rated or identity, not \"headlin\""
      ),
      (
        "{name: battery.voltage, type: u8, unit: V, importance: detail}",
        "battery.voltage has no importance of its own: it is the same for everybody's"
      ),
    ] as [(String, String)])
  func mistakesAreReported(fields: String, mistake: String) {
    let found = DescriptionSample.message("fields: [\(fields)]")
    #expect(found.map { $0.drop { $0 != " " }.dropFirst() } == [mistake[...]])
  }

  @Test func aValueHasOneImportanceEverywhere() {
    let text =
      DescriptionSample.head + DescriptionSample.framings
        + """
        messages:
          m: {when: {n: 1}, fields: [{name: a, type: u8, importance: detail}]}
          o: {when: {n: 2}, fields: [{name: a, type: u8, importance: shown}]}

        """
    let found = DescriptionSample.mistakes(text)
    #expect(found.count == 1)
    #expect(
      found.first?.hasSuffix("a is detail elsewhere: the importance of a value must be the same everywhere") == true)
  }

  private func importance(_ plan: String) throws -> [String: Importance] {
    try DescriptionReader.read(
      Array(
        """
        protocol: x
        version: 1
        framings:
          f: {layout: [{start: "("}, {kind: u8}, data, {end: ")"}]}
        messages:
          now: {when: {kind: 1}, fields: [{name: power, type: u8, unit: W}, {name: goal, type: u8, unit: °C}]}
          once: {when: {kind: 2}, fields: [{name: most, type: u8, unit: W}, {name: why, type: u8}, {name: heat, type: u8, unit: W, importance: detail}]}
          other: {when: {kind: 3}, fields: [{name: also, type: u8, unit: W}]}
        derived:
          - {name: half, value: power / 2, unit: W, importance: headline}
        requests:
          now: {send: f, with: {kind: 1}, reply: now}
          once: {send: f, with: {kind: 2}, reply: once}
          other: {send: f, with: {kind: 3}, reply: other}
          set:
            send: f
            with: {kind: 4}
            data: [{argument: to}]
            arguments: {to: {type: u8}}
            write: true
            sets: {goal: "{to}"}
        plan:
          poll: \(plan)

        """.utf8), file: "f"
    ).description.importance
  }

  /// What can be set is a setting; what is asked for once is what it is made for, unless everything is.
  @Test func itFollowsFromHowAValueIsAskedFor() throws {
    let stated: [String: Importance] = ["heat": .detail, "half": .headline, "goal": .setting]
    let constant = try importance("[{requests: now, every: 1s}, {requests: once}]")
    #expect(constant == stated.merging(["most": .rated]) { $1 })
    #expect(try importance("[{requests: [now, once]}]") == stated)
    #expect(try importance("[{requests: [now, once], every: 1s}]") == stated)
  }

  @Test func itGoesWithTheValue() {
    let values = AccessoryValue.all(
      described: [DescribedValue("a.b", .list([.whole(1), .whole(2)]), unit: "V")],
      derived: [DescribedValue("c", .whole(1))], importance: ["a.b": .rated, "c": .headline])
    #expect(values.map(\.importance) == [.rated, .rated, .headline])
  }

  /// A device that sends tenths has them; one that sends whole percent, or a formula, has none.
  @Test func tenthsOfPercentAreThoseOfTheDevice() {
    func tenths(_ reported: PlainValue?, derived: PlainValue? = nil) -> Int? {
      func values(_ value: PlainValue?) -> [DescribedValue] {
        value.map { [DescribedValue("battery.percent", $0, unit: "%")] } ?? []
      }
      return BatteryReading(described: values(reported), derived: values(derived)).percentTenths
    }
    #expect(tenths(.number(57.3)) == 573 && tenths(.number(57)) == 570)
    #expect(tenths(.whole(57)) == nil && tenths(nil, derived: .number(57.3)) == nil)
    #expect(tenths(.number(104)) == 1_000 && tenths(.number(250)) == nil)
  }
}
