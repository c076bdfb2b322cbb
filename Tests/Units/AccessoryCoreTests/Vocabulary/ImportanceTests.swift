// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

/// How much values matter to people.
@Suite struct ImportanceTests {
  @Test(
    arguments: [
      (AccessoryValue("x", unit: .percent, role: "ups.load", number: 3), .headline),
      (AccessoryValue("x", role: "ups.on_battery", content: .flag(true)), .headline),
      (AccessoryValue("x", unit: .volt, role: "input.voltage", number: 3), .shown),
      (AccessoryValue("x", unit: .volt, role: "input.voltage.nominal", number: 3), .rated),
      (AccessoryValue("x", unit: .percent, role: "battery.charge.low", number: 3), .setting),
      (AccessoryValue("x", role: "ups.boost", content: .flag(true)), .detail),
      (AccessoryValue("rated_voltage", quantity: .voltage, unit: .volt, number: 3), .rated),
      (AccessoryValue("charge_current_limit", quantity: .current, unit: .ampere, number: 3), .setting),
      (AccessoryValue("limit.charge_current", quantity: .current, unit: .ampere, number: 3), .setting),
      (AccessoryValue("software_version", number: 3), .identity),
      (AccessoryValue("boot", quantity: .identity, content: .text("a")), .identity),
      (AccessoryValue("inside", quantity: .temperature, unit: .celsius, number: 3), .shown),
      (AccessoryValue("distance", unit: .metre, number: 3), .shown), (AccessoryValue("mode", number: 3), .detail),
      (AccessoryValue("resets", quantity: .count, number: 3), .detail),
      (AccessoryValue("run_time", quantity: .duration, unit: .second, number: 3), .detail),
    ] as [(AccessoryValue, Importance)])
  func withoutAWordItFollowsFromTheMeaning(value: AccessoryValue, importance: Importance) {
    #expect(value.importance == importance && value.bounded.importance == importance)
  }

  @Test func whatIsStatedHolds() {
    let value = AccessoryValue("rated_power", quantity: .power, unit: .watt, content: .number(1), importance: .headline)
    #expect(value.importance == .headline && value.bounded.importance == .headline)
  }

  @Test func constantsAreWhatNeverChangesByItself() {
    #expect(Importance.allCases.filter(\.isConstant) == [.setting, .rated, .identity])
    #expect(Importance.allCases == Importance.allCases.sorted())
  }

  /// A series has the importance of the battery's quantity, or what its name and its unit imply.
  @Test func onlyWhatChangesIsDrawn() {
    let names = [("limit", "V"), ("cells", nil), ("battery.voltage", "V"), ("solar", "W"), ("battery.percent", "%")]
    let series = names.map { ReadingSeries(name: $0, unit: $1) } + [ReadingSeries(name: "x", importance: .headline)]
    #expect(series.drawn.map(\.name) == ["battery.percent", "x", "battery.voltage", "solar"])
    #expect(Array(series.prefix(2)).drawn.map(\.name) == ["cells"])
    #expect(Array(series.prefix(1)).drawn.isEmpty)
  }
}
