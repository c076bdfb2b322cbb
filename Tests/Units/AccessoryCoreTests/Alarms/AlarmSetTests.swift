// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@Suite struct AlarmSetTests {
  private static let start = MonotonicTime(nanoseconds: 0)

  private func battery(_ percent: Int) -> AlarmReadings { AlarmReadings(battery: BatteryReading(percent: percent)) }

  @Test func raisedAlarmsKeepTheirTimes() throws {
    let rules = [try AlarmRule("battery < 20 %"), try AlarmRule("very low: battery < 10 % for 1 min")]
    var set = AlarmSet(rules, now: Self.start)
    #expect(set.deadline == nil && !set.watchesSilence && set.raised.isEmpty)
    let news = set.take(battery(5), now: Self.start, wallClock: 1_000)
    #expect(news.map(\.change) == [.raised] && news.first?.alarm.since == 1_000)
    #expect(set.deadline == Self.start + .seconds(60))
    let later = set.timePassed(now: Self.start + .seconds(60), wallClock: 1_060)
    #expect(later.map(\.alarm.rule.name) == ["very low"])
    #expect(set.raised.map(\.since) == [1_000, 1_060])
    let end = set.take(battery(50), now: Self.start + .seconds(90), wallClock: 1_090)
    #expect(end.map(\.change) == [.cleared] && end.first?.alarm.since == 1_000)
    #expect(end.first?.alarm.value?.text == "50 %")
  }

  @Test func anAlarmWhoseRuleIsGoneIsCleared() throws {
    let low = try AlarmRule("battery < 20 %")
    var set = AlarmSet([low, try AlarmRule("battery < 30 %")], now: Self.start)
    _ = set.take(battery(5), now: Self.start, wallClock: 1_000)
    let news = set.use([try AlarmRule("fault"), low], now: Self.start)
    #expect(news.map(\.alarm.rule.name) == ["battery < 30 %"] && news.map(\.change) == [.cleared])
    #expect(set.raised.map(\.rule) == [low])
  }

  @Test func raisedAlarmsStayWhenTheAccessoryIsGone() throws {
    var set = AlarmSet([try AlarmRule("battery < 20 %"), try AlarmRule("silent for 5 min")], now: Self.start)
    _ = set.take(battery(5), now: Self.start, wallClock: 1_000)
    #expect(set.watchesSilence)
    set.suspend()
    #expect(set.raised.map(\.rule.name) == ["battery < 20 %"])
    #expect(set.timePassed(now: Self.start + .seconds(300), wallClock: 1_300).map(\.change) == [.raised])
  }

  @Test(arguments: [
    ("pv_power < 5 V", "pv_power is in W, and the limit in V"), ("mode > 3", nil), ("door > 3", "door is no number"),
    ("pv_power = float", "pv_power is a number, and the limit a word"), ("pv_power < 5 kW", nil), ("pv_power < 5", nil),
    ("door = ajar", "door is yes or no, and the limit ajar"), ("door = YES", nil), ("other < 5 V", nil),
    ("weight < 5 kg", "weight is in stone\\u{1b}, and the limit in kg"),
    ("temperature > 30", "temperature is no number"),
  ])
  func rulesThatNeverFitHaveAReason(text: String, reason: String?) throws {
    let values = ValuesReading(
      [
        AccessoryValue("pv_power", quantity: .power, unit: .watt, content: .number(3)),
        AccessoryValue("door", content: .flag(true)),
        AccessoryValue("mode", content: .choice(word: "x", number: 1)),
        AccessoryValue("other", unit: .watt, content: nil),
        AccessoryValue("weight", unit: "stone\u{1B}", content: .number(1)),
        AccessoryValue("temperature", content: .text("hot")),
      ], at: Self.start)
    let expected = reason.map { [$0] } ?? []
    var set = AlarmSet([try AlarmRule(text)], now: Self.start)
    _ = set.take(AlarmReadings(values: values), now: Self.start, wallClock: 1_000)
    #expect(set.unfit.map(\.reason) == expected)
    // It is reported once, also when the accessory went and came again.
    #expect(set.takeNewUnfit().map(\.reason) == expected && set.takeNewUnfit().isEmpty)
    set.suspend()
    #expect(set.unfit.isEmpty)
    _ = set.take(AlarmReadings(values: values), now: Self.start, wallClock: 1_000)
    // While nothing is known, the reason stays.
    _ = set.take(AlarmReadings(), now: Self.start, wallClock: 1_000)
    #expect(set.unfit.map(\.reason) == expected && set.takeNewUnfit().isEmpty)
  }

  @Test func aSetKeepsABoundedNumberOfRules() throws {
    let rules = try (0..<100).map { try AlarmRule("x > \($0)") }
    #expect(AlarmSet(rules, now: Self.start).rules.count == AlarmRule.countLimit)
  }
}
