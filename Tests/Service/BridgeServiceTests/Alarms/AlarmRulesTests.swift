// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import Testing

@testable import BridgeService

/// Which rules are for an accessory.
@Suite struct AlarmRulesTests {
  private static func rules(_ texts: String...) throws -> [AlarmRule] { try texts.map { try AlarmRule($0) } }

  private static let subject = CommandRules.Subject(id: "A1@2", serial: "A1", profile: "pack", driver: "daly")

  @Test func theNearestRuleOfANameCounts() throws {
    var profile = Profile(name: "pack", rules: [])
    profile.alarms = try Self.rules("low: battery < 5 %", "fault")
    let entries = [
      AlarmEntry(nil, try Self.rules("low: battery < 6 %", "silent for 1 min")),
      AlarmEntry(.driver("daly"), try Self.rules("low: battery < 7 %", "hot: temperature > 50")),
      AlarmEntry(.driver("other"), try Self.rules("fault 1")),
      AlarmEntry(.profile("pack"), try Self.rules("low: battery < 8 %", "hot: temperature > 45")),
      AlarmEntry(.accessory("A1"), try Self.rules("low: battery < 9 %")),
      AlarmEntry(.accessory("A1@1"), try Self.rules("fault 2")),
    ]
    func texts(_ rules: AlarmRules, _ subject: CommandRules.Subject = Self.subject) -> [String] {
      rules.rules(for: subject, profile).rules.map(\.description)
    }
    #expect(
      texts(AlarmRules(entries)) == ["low: battery < 9 %", "hot: temperature > 45 °C", "silent for 1 min", "fault"])
    #expect(texts(AlarmRules(entries, typed: try Self.rules("low: battery < 1 %"))).first == "low: battery < 1 %")
    #expect(
      texts(AlarmRules(entries), CommandRules.Subject(id: "B", driver: "x")) == [
        "low: battery < 6 %", "silent for 1 min", "fault",
      ])
    #expect(texts(AlarmRules()) == ["low: battery < 5 %", "fault"])
  }

  @Test func anAccessoryHasABoundedNumberOfRules() throws {
    let entry = AlarmEntry(nil, try (0..<20).map { try AlarmRule("x > \($0)") })
    let typed = try (0..<20).map { try AlarmRule("y > \($0)") }
    let (rules, tooMany) = AlarmRules([entry], typed: typed).rules(for: Self.subject, nil)
    #expect(rules.count == AlarmRule.countLimit && tooMany == 8)
    #expect(rules.first == typed.first)
  }
}
