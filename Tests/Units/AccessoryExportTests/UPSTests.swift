// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryExport

/// What accessories are as UPSs.
struct UPSTests {
  private func status(_ battery: BatteryReading?, _ values: [AccessoryValue] = [], isUPS: Bool) -> String {
    UPSStatus(ReadingsSnapshot.sample(battery: battery, values: values).accessories[0], isUPS: isUPS).text
  }

  /// `upsmon` shuts the machine down on OB and LB.
  @Test func onlyNamedOnesAreEverOnBatteryOrLow() {
    for level in BatteryReading.Level.allCases {
      for charge in BatteryReading.Charge.allCases {
        for onBattery in [nil, true, false] {
          var battery = BatteryReading(level: level, charge: charge)
          (battery.faults, battery.warnings) = (["battery-low", "ups-failed"], ["battery-low"])
          let values = onBattery.map { [AccessoryValue("on_battery", content: .flag($0))] } ?? []
          let words = status(battery, values, isUPS: false).split(separator: " ")
          #expect(words.first == "OL")
          #expect(Set(words).isSubset(of: ["OL", "CHRG", "DISCHRG"]))
        }
      }
    }
    // Nor is any other word said for which an upsmon shuts its machine down.
    let values = UPSStatus.Word.allCases.compactMap(\.role).map {
      AccessoryValue($0.rawValue, role: $0, content: .flag(true))
    }
    var battery = BatteryReading(percent: 1, charge: .discharging)
    (battery.faults, battery.warnings) = (["ups-failed", "replace-battery"], ["shutdown-imminent"])
    #expect(status(battery, values, isUPS: false) == "OL DISCHRG OVER RB")
    #expect(
      status(battery, values, isUPS: true) == "ALARM OB DISCHRG LB OVER RB TRIM BOOST BYPASS OFF CAL FSD")
  }

  /// Each word has a source, and each role of a truth is the source of one. The page has a row for each.
  @Test func everyWordHasItsRow() throws {
    let roles = UPSStatus.Word.allCases.compactMap(\.role)
    #expect(Set(roles).count == roles.count)
    #expect(Set(roles) == Set(Vocabulary.roles.filter { $0.unit == nil }.map(\.role)))
    let rows = try Page("Documentation/nut.md").lines.filter { $0.hasPrefix("| `") }
    for word in UPSStatus.Word.allCases {
      let row = rows.first { $0.hasPrefix("| `\(word.rawValue)` |") }
      #expect(row != nil, "\(word.rawValue) has no row")
      if let role = word.role { #expect(row?.contains("`\(role.rawValue)`") == true, "\(role)") }
      for notice in word.notices { #expect(row?.contains("`\(notice)`") == true, "\(notice)") }
    }
  }

  @Test(
    arguments: [
      // The flag, the charge, the time, what the UPS says of both limits, the owner's limit; whether it is low; both limits.
      (nil, 18, nil, nil, nil, "", true, 20, nil),
      (nil, 21, nil, nil, nil, "", false, 20, nil), (true, 90, nil, nil, nil, "", true, nil, nil),
      (false, 15, nil, nil, nil, "", false, nil, nil), (false, 15, nil, nil, nil, "20 %", true, 20, nil),
      (nil, 18, nil, 10, nil, "", false, 10, nil), (nil, 10, nil, 10, nil, "", true, 10, nil),
      (false, 10, nil, 10, nil, "", true, 10, nil), (nil, 18, nil, 10, nil, "15 %", false, 15, nil),
      (nil, 14, nil, 10, nil, "15 %", true, 15, nil), (nil, 9, nil, 10, nil, "5 %", true, 10, nil),
      (nil, 80, 60, nil, 120, "", true, nil, 120), (nil, 15, 600, nil, 120, "", false, nil, 120),
      (nil, 80, 200, nil, 120, "5 min", true, nil, 300), (nil, 80, nil, nil, nil, "5 min", false, 20, 300),
      (nil, 15, 600, nil, nil, "5 min", false, nil, 300), (nil, 15, nil, nil, 120, "", true, 20, 120),
      (nil, 100, 0, nil, 120, "", false, 20, 120), (nil, 20, 0, nil, 120, "", true, nil, 120),
      // What can't be a limit is none.
      (nil, 18, nil, 0, nil, "", true, 20, nil), (nil, 90, nil, 100, nil, "", false, 20, nil),
      (nil, 90, 3_000, nil, 65_535, "", false, 20, nil),
    ] as [(Bool?, Int, Int?, Int?, Int?, String, Bool, Int?, Int?)])
  func theWordOfTheUPSComesFirstAndTheOwnersSecond(
    _ flag: Bool?, _ percent: Int, _ seconds: Int?, _ percentLimit: Int?, _ timeLimit: Int?, _ owner: String,
    _ isLow: Bool,
    _ charge: Int?, _ runtime: Int?
  ) {
    var battery = BatteryReading(percent: percent)
    battery.timeToEmpty = seconds.map { .seconds($0) }
    var values: [AccessoryValue] = []
    if let flag { values.append(.init("low", role: "ups.low_battery", content: .flag(flag))) }
    if let percentLimit {
      values.append(.init("l", unit: .percent, role: "battery.charge.low", number: Double(percentLimit)))
    }
    if let timeLimit {
      values.append(.init("t", unit: .second, role: "battery.runtime.low", number: Double(timeLimit)))
    }
    let accessory = ReadingsSnapshot.sample(battery: battery, values: values).accessories[0]
    let variables = UPSVariables(accessory, isUPS: true, limit: LowLimit(owner), version: "1")
    #expect(variables["ups.status"]?.value == (isLow ? "OL LB" : "OL"))
    #expect(variables["battery.charge.low"]?.value == charge.map(String.init))
    #expect(variables["battery.runtime.low"]?.value == runtime.map(String.init))
  }

  @Test func readingsDecideTheStatusOfAUPS() {
    let onBattery = AccessoryValue("on_battery", content: .flag(true))
    #expect(status(lowUPS, isUPS: true) == "OB DISCHRG LB")
    #expect(status(lowUPS, isUPS: false) == "OL DISCHRG")
    #expect(status(BatteryReading(percent: 21, charge: .charging), isUPS: true) == "OL CHRG")
    #expect(status(BatteryReading(percent: 20, charge: .charging), isUPS: true) == "OL CHRG LB")
    #expect(status(BatteryReading(charge: .unknown), [onBattery], isUPS: true) == "OB")
    #expect(
      status(BatteryReading(charge: .discharging), [.init("on_battery", content: .flag(false))], isUPS: true)
        == "OL DISCHRG")
    #expect(status(nil, isUPS: true) == "OL")
    var warned = BatteryReading(charge: .discharging)
    warned.warnings = ["battery-low"]
    #expect(status(warned, isUPS: true) == "OB DISCHRG LB")
  }

  @Test func readingsBecomeVariablesOfNUT() {
    var battery = BatteryReading(percent: 80, millivolts: 26_512, milliamperes: -1_250, charge: .discharging)
    battery.timeToEmpty = .seconds(3_600)
    battery.temperatures = [.init(-5_250), .init(30_000)]
    battery.fullMilliampereHours = 7_200
    battery.faults = ["over-heated", "a \"b\""]
    let values = [
      AccessoryValue("input_voltage", quantity: .voltage, unit: .volt, number: 229.96),
      AccessoryValue("load", quantity: .ratio, unit: .percent, number: 14),
      AccessoryValue("output_power", quantity: .power, unit: .watt, number: 120),
      AccessoryValue("temperature", quantity: .temperature, unit: .celsius, number: nil),
      // The unit isn't NUT's.
      AccessoryValue("output_voltage", quantity: .voltage, unit: .millivolt, number: 229_960),
    ]
    let variables = UPSVariables(
      ReadingsSnapshot.sample(battery: battery, values: values).accessories[0], isUPS: false, version: "1")
    let expected = [
      "battery.charge": "80", "battery.voltage": "26.512", "battery.current": "-1.25", "battery.runtime": "3600",
      "battery.temperature": "30", "battery.capacity": "7.2", "battery.charger.status": "discharging",
      "ups.alarm": "over-heated, a \"b\"", "input.voltage": "229.96", "ups.load": "14", "ups.realpower": "120",
      "device.mfr": "Acme", "ups.status": "OL DISCHRG",
    ]
    for (name, value) in expected { #expect(variables[name]?.value == value, "\(name)") }
    for name in ["ups.temperature", "output.voltage"] { #expect(variables[name] == nil) }
    for variable in variables.all { #expect(UPSVariables.summary(of: variable.name) != nil, "\(variable.name)") }
    // What people look for first is first; otherwise they go by name.
    #expect(
      variables.all.prefix(6).map(\.name) == [
        "battery.charge", "battery.charger.status", "battery.runtime", "ups.alarm", "ups.load", "ups.status",
      ])
    #expect(variables.all.last?.name == "ups.serial")
    for importance in Importance.allCases {
      let names = variables.all.filter { $0.importance == importance }.map(\.name)
      #expect(names == names.sorted())
    }
  }

  @Test(arguments: [
    (0.0, "0"), (-0.0001, "0"), (3.7, "3.7"), (0.05, "0.05"), (-12.5, "-12.5"), (1e11, "100000000000"), (2.9999, "3"),
    (0.001, "0.001"),
  ])
  func decimalsHaveNoUselessZeros(_ number: Double, _ text: String) { #expect(Decimal.text(number, places: 3) == text) }

  @Test(arguments: [Double.nan, .infinity, 1e300, -1e15]) func numbersThatAreTooLargeHaveNoDecimals(_ number: Double) {
    #expect(Decimal.text(number, places: 3) == nil)
  }
}
