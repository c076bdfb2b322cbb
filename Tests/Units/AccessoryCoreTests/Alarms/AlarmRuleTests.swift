// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@Suite struct AlarmRuleTests {
  @Test(arguments: [
    ("battery < 20 %", "battery < 20 %"),
    ("battery<20%", "battery < 20 %"),
    ("  Battery   <=  20 ", "battery <= 20 %"),
    ("cell spread > 50 mV", "cell spread > 50 mV"),
    ("cell voltage ≥ 3.65 V for 10s", "cell voltage >= 3.65 V for 10 s"),
    ("temperature > 45", "temperature > 45 °C"),
    ("temperature > 45 C hysteresis 3 K", "temperature > 45 °C hysteresis 3 K"),
    ("temperature > 45 °C hysteresis 3 °C", "temperature > 45 °C hysteresis 3"),
    ("current < -20.5 A for 90 s", "current < -20.5 A for 90 s"),
    ("time to empty < 30 min", "time to empty < 30 min"),
    ("fault", "fault"),
    ("fault for 1 m", "fault for 1 min"),
    ("fault cell-overvoltage", "fault cell-overvoltage"),
    ("FAULT \"over temperature\" for 60 s", "fault \"over temperature\" for 1 min"),
    ("fault 17", "fault 17"),
    ("warning", "warning"),
    ("silent for 5 min", "silent for 5 min"),
    ("silent for 1.5 s", "silent for 1500 ms"),
    ("pv_power < 5 W for 2 min", "pv_power < 5 W for 2 min"),
    ("pv_power < 0.5", "pv_power < 0.5"),
    ("value temperature > 3", "value temperature > 3"),
    ("value silent > 3", "value silent > 3"),
    ("\"PV power (W)\" > 3", "\"PV power (W)\" > 3"),
    ("\"a \\\"b\\\" \\\\\" > 3", "\"a \\\"b\\\" \\\\\" > 3"),
    ("\"for\" > 3", "\"for\" > 3"),
    ("value \"for\" > 3", "\"for\" > 3"),
    ("mode != float", "mode != float"),
    ("mode = \"3\"", "mode = \"3\""),
    ("mode == 3", "mode = 3"),
    ("battery level <= low", "battery level <= low"),
    ("charge = not_charging", "charge = not_charging"),
    ("state <> idle", "state != idle"),
    ("low: battery < 20 %", "low: battery < 20 %"),
    ("  My pack is low : battery < 20 % for 5 min", "My pack is low: battery < 20 % for 5 min"),
    ("hot hot: \"a:b\" > 3", "hot hot: \"a:b\" > 3"),
    ("\"a:b\" > 3", "\"a:b\" > 3"),
    ("speed > 10 km/h", "speed > 10 km/h"),
    ("frequency < 49.8 Hz hysteresis 0.05 Hz for 1 s", "frequency < 49.8 Hz hysteresis 0.05 for 1 s"),
    ("frequency < 49.8 Hz for 1 s hysteresis 0.05", "frequency < 49.8 Hz hysteresis 0.05 for 1 s"),
  ])
  func aRuleIsWrittenAsItIsRead(text: String, written: String) throws {
    let rule = try AlarmRule(text)
    #expect(rule.description == written)
    #expect(try AlarmRule(rule.description) == rule)
    #expect(try AlarmRule(rule.text).condition == rule.condition)
  }

  @Test func aRulesNameIsItsOwnOrItsText() throws {
    #expect(try AlarmRule("battery<20% for 5 min").name == "battery < 20 %")
    #expect(try AlarmRule("low: battery<20%").name == "low")
    #expect(try AlarmRule("battery<20%", name: "low") == AlarmRule("low: battery < 20 %"))
    #expect(throws: AlarmRuleError.self) { try AlarmRule("low: battery < 20 %", name: "other") }
  }

  @Test(arguments: [
    ("", 1, "a condition is missing, like battery < 20 %, fault, or silent for 5 min"),
    ("low:", 5, "a condition is missing, like battery < 20 %, fault, or silent for 5 min"),
    ("battery", 8, "expected <, <=, >, >=, = or != after battery"),
    ("battery <", 10, "a limit is missing after <"),
    ("battery < x", 11, "the limit of battery is a number, in % for example, not \"x\""),
    ("battery < 20 V", 14, "battery is measured in %, not in V"),
    ("battery << 20", 9, "expected <, <=, >, >=, = or != after battery, not \"<< 20\""),
    ("cell spread > 50", 17, "the limit of cell spread needs a unit: V or mV"),
    ("cell spreed > 50 mV", 1, "there is no \"cell spreed\": did you mean cell spread?"),
    ("pv power > 5 W", 1, "a value whose name has blanks needs quotes"),
    ("pv_power > 5 Watts", 14, "\"Watts\" is no unit"),
    ("pv_power > 5 w", 14, "did you mean"),
    ("cycles > 500 %", 14, "cycles has no unit"),
    ("battery level < lo", 17, "battery level is critical, low, normal, high or full"),
    ("state < idle", 9, "state is a word, and can only be compared by = and !="),
    ("mode < float", 8, "words can only be compared by = and !="),
    ("fault = 3", 7, "fault takes no comparison; for a value of this name write value fault"),
    ("silent", 7, "silent needs a time: silent for 5 min"),
    ("silent for", 11, "expected a time, like 30 s or 5 min"),
    ("silent for 5", 12, "a time is a number with ms, s, min, h or d, like 30 s or 5 min"),
    ("silent for 5 parsecs", 12, "a time is a number with"),
    ("silent for 10 ms", 12, "a time of silence is from 1 s to 30 d"),
    ("silent for 5 min for 3 s", 18, "silent has its time already"),
    ("battery < 20 % for 0 s", 20, "the time after for is from 1 ms to 7 d"),
    ("battery < 20 % for 8 d", 20, "the time after for is from 1 ms to 7 d"),
    ("battery < 20 % for 1 s for 2 s", 24, "for is given twice"),
    ("battery < 20 % until 25 %", 16, "expected for TIME, hysteresis NUMBER, or the end, not \"until 25 %\""),
    ("battery < 20 % hysteresis", 26, "expected how far a reading must be beyond the limit"),
    ("battery < 20 % hysteresis -1", 27, "hysteresis is a distance, and not negative"),
    ("battery < 20 % hysteresis 1 V", 29, "hysteresis must be in %, like the limit"),
    ("x < 20 hysteresis 1 V", 21, "the limit has no unit, so hysteresis has none"),
    ("fault hysteresis 3", 7, "hysteresis is for a limit: battery < 20 % hysteresis 5 %"),
    ("x = 3 hysteresis 3", 7, "hysteresis is for a limit"),
    ("x > 12345678901", 5, "a number is within"),
    ("x > 1.1234567", 5, "a number is within"),
    ("x > 1.2.3", 5, "a number is within"),
    ("\"x > 3", 1, "the quotes aren't closed"),
    ("\"\" > 3", 1, "a name in quotes has 1 to 64 bytes"),
    (": x > 3", 1, "a name before the colon has 1 to 64 bytes"),
    ("a=b: x > 3", 1, "a name before the colon has no quotes"),
    ("x\u{7} > 3", 2, "a rule has no control characters and no invisible ones"),
    ("value > 3", 7, "expected the name of a value after value"),
    ("> 3", 1, "expected what is watched, like battery or temperature, not \"> 3\""),
  ])
  func aMistakeInARuleHasItsColumn(text: String, column: Int, message: String) {
    do {
      Issue.record("taken as \(try AlarmRule(text))")
    } catch {
      #expect(error.column == column, "\(text): \(error)")
      #expect(error.message.contains(message), "\(error)")
    }
  }

  @Test func aRuleThatIsTooLongIsRefused() {
    #expect(throws: AlarmRuleError.self) { try AlarmRule(String(repeating: "a", count: 65) + " > 3") }
    #expect(throws: AlarmRuleError.self) { try AlarmRule("x > 3" + String(repeating: " ", count: 400)) }
    #expect(throws: AlarmRuleError.self) { try AlarmRule(String(repeating: "n", count: 65) + ": x > 3") }
  }

  /// Random texts of the language's words never trap, and what is a rule stays the same when it is written and read.
  @Test func randomRulesAreWrittenAndReadTheSame() throws {
    let words = [
      "battery", "cell", "spread", "temperature", "value", "fault", "warning", "silent", "for", "hysteresis", "<", "<=",
      ">", ">=", "=", "!=", "≤", "20", "-3.5", "0.000001", "1000000000", "%", "mV", "V", "°C", "K", "s", "min", "d",
      "\"", "\\", ":", "low", "x_y", "time", "to", "empty", "\u{301}", "é", " ", "  ", "ms", ".", "-", "+", "1e5", "١",
      "level", "state", "idle", "\t", "e\u{301}", "👍🏽", "pv.power-1", "\"a b\"", "low: ",
    ]
    var state: UInt64 = 42
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    var ruleCount = 0
    for _ in 0..<20_000 {
      let text = (0..<random(9) + 1).map { _ in words[random(words.count)] }.joined(
        separator: random(3) == 0 ? "" : " ")
      guard let rule = try? AlarmRule(text) else { continue }
      ruleCount += 1
      #expect(try AlarmRule(rule.description) == rule, "\(text)")
      #expect(rule.name.utf8.count <= AlarmRule.textLimit)
    }
    #expect(ruleCount > 50)
  }

  /// A value's name that is nearly the word for a part of the readings is probably that word. Names of real values aren't.
  @Test(
    arguments: [
      ("batery < 20 %", "did you mean battery?"), ("volatge < 3 V", "did you mean voltage?"),
      ("battery < 20 %", nil), ("pv_power < 5 W", nil), ("charged < 5", nil), ("temperature1 > 5", nil), ("fault", nil),
    ] as [(String, String?)])
  func aMistypedSubjectIsAskedAbout(text: String, question: String?) throws {
    let rule = try AlarmRule(text)
    #expect(rule.question == question)
    #expect(rule.misfit { _ in [] } == question.map { "there is no value \(text.prefix { $0 != " " }): \($0)" })
  }
}
