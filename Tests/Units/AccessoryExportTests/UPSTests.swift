// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
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
    #expect(variables.all.map(\.name) == variables.all.map(\.name).sorted())
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
