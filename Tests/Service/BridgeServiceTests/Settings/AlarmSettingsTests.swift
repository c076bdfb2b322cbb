// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import Testing

@testable import BridgeService

/// Rules of alarms in profiles and in the service's configuration.
@Suite struct AlarmSettingsTests {
  private func settings(_ text: String) throws(ProfileProblems) -> [AlarmEntry] {
    let profiles = [Profile(name: "pack", rules: [], driver: "framed")]
    return try ServiceSettings.read(
      .init(path: "f", bytes: Array(text.utf8)), drivers: .builtIn, profiles: profiles
    ).alarms
  }

  private func profile(_ alarms: String) throws(ProfileProblems) -> Profile {
    try ProfileReader.read(Array("name: pack\nmatch: {serial: A1}\nalarms:\n\(alarms)".utf8), file: "f")
  }

  @Test func alarmRulesOfAProfileAreRead() throws {
    let read = try profile(
      """
      - battery < 20 %
      - nearly empty: battery < 8 % for 1 min
      - "low: voltage < 3.3 V"
      - '"PV power" < 5 W'
      - fault
      """)
    let texts = [
      "battery < 20 %", "nearly empty: battery < 8 % for 1 min", "low: voltage < 3.3 V", "\"PV power\" < 5 W", "fault",
    ]
    #expect(read.alarms.map(\.description) == texts)
    // What is shown of a profile reads as the same one.
    #expect(try ProfileReader.read(Array(ProfileText.text(read).utf8), file: "f") == read)
    #expect(try ProfileReader.read(Array("name: a\nmatch: {serial: A1}\nalarms: []".utf8), file: "f").alarms.isEmpty)
  }

  @Test(arguments: [
    ("- battery < 20 V", "f:4:16: battery is measured in %, not in V"),
    ("- 'battery < 20 V'", "f:4:17: battery is measured in %, not in V"),
    ("- low: battery < 20 V", "f:4:21: battery is measured in %, not in V"),
    ("- a<b: battery < 20", "f:4:3: a name before the colon has no quotes"),
    ("- [battery]", "f:4:3: an alarm is a rule like battery < 20 %"),
    ("- {a: fault, b: fault}", "f:4:3: an alarm is a rule like battery < 20 %"),
    ("- fault\n- fault", "f:5:3: there is an alarm \"fault\" already: give each a name of its own"),
    ("- fault\n- fault: warning", "f:5:3: there is an alarm \"fault\" already"),
    (" 5", "f:4:2: alarms must be a list"),
    (String(repeating: "- fault\n", count: 33), "f:4:1: alarms must have 1 to 32 entries, not 33"),
  ])
  func mistakesInAlarmRulesAreReportedWithTheirPlace(text: String, message: String) {
    do {
      Issue.record("read: \(try profile(text).alarms)")
    } catch {
      #expect(error.problems.first.map { "\($0)".hasPrefix(message) } == true, "\(error.problems)")
    }
  }

  /// A limit that can't be compared with a described value is reported, and hinders nothing.
  @Test func aLimitInAnotherUnitIsReported() throws {
    let text = """
      name: sun
      match: {serial: A1}
      driver: epever
      alarms:
      - no sun: solar_power < 5 V
      - solar_power < 1 kW
      - unknown < 5 V
      """
    let (profile, unfit) = try ProfileReader.check(Array(text.utf8), file: "f")
    let message = "the rule no sun: solar_power < 5 V never raises an alarm: solar_power is in W, and the limit in V"
    #expect(unfit.map(\.description) == ["f:5:3: \(message)"] && profile.alarms.count == 3)
    for (subject, isFound) in [
      ("driver: epever", true), ("profile: sun", true), ("driver: framed", false), ("accessory: A1", false),
    ] {
      let text = "alarms:\n- solar_power < 5 V\n- \(subject)\n  rules: ['no sun: solar_power < 5 V']\n"
      let read = try ServiceSettings.read(
        .init(path: "f", bytes: Array(text.utf8)), drivers: .builtIn, profiles: [profile])
      #expect(read.unfitAlarms.map(\.description) == (isFound ? ["f:4:11: \(message)"] : []))
      #expect(read.alarms.count == 2)
    }
  }

  @Test func alarmEntriesOfTheConfigurationAreRead() throws {
    #expect(try settings("alarms: []") == [])
    let entries = try settings(
      """
      alarms:
      - fault
      - accessory: A1
        rules: [battery < 30 %, "low voltage: voltage < 3.3 V"]
      - hot: temperature > 45
      - {profile: pack, rules: [fault 3]}
      - {driver: framed, rules: [silent for 5 min]}
      """)
    #expect(
      entries == [
        AlarmEntry(nil, [try AlarmRule("fault"), try AlarmRule("hot: temperature > 45")]),
        AlarmEntry(.accessory("A1"), [try AlarmRule("battery < 30 %"), try AlarmRule("low voltage: voltage < 3.3 V")]),
        AlarmEntry(.profile("pack"), [try AlarmRule("fault 3")]),
        AlarmEntry(.driver("framed"), [try AlarmRule("silent for 5 min")]),
      ])
  }

  @Test(arguments: [
    ("- accessory: A1", "f:2:3: rules are missing"),
    ("- rules: [fault]", "f:2:3: an entry names its accessories by one of accessory, profile, driver"),
    ("- {profile: pac, rules: [fault]}", "f:2:13: there is no profile \"pac\": did you mean pack?"),
    ("- {accessory: A1, rule: fault}", "f:2:19: unknown key \"rule\": did you mean rules?"),
    ("- {accessory: A1, rules: [batery < 3 V, fault fault fault]}", "f:2:53: expected for TIME"),
    ("- temprature sensor > 45", "f:2:3: there is no"),
  ])
  func mistakesInAlarmEntriesAreReported(text: String, message: String) {
    do {
      Issue.record("read: \(try settings("alarms:\n\(text)"))")
    } catch {
      #expect(error.problems.contains { "\($0)".hasPrefix(message) }, "\(error.problems)")
    }
  }
}
