// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import FamilyHIDPower

/// What the reports of a power device say, without a device.
@Suite struct PowerReportsTests {
  private func reports(_ quirks: PowerQuirks = .none) -> PowerReports {
    PowerReports(HIDReportDescriptor(HIDSamples.cyberPower), quirks)
  }

  @Test func aBatteryIsReadFromTheReportsOfAUPS() {
    var reports = reports()
    // What NUT's issue 439 shows: 100 %, 2343 s; on mains and full.
    for text in ["08 64 27 09 2c 01", "0b 11", "0a 11 01", "09 f0"] {
      let isKnown = reports.take(.feature, HIDSamples.bytes(text))
      #expect(isKnown)
    }
    let battery = reports.battery()
    #expect(battery.percent == 100)
    #expect(battery.timeToEmpty == .seconds(2_343))
    #expect(battery.charge == .full)
    #expect(battery.warnings == [])
    #expect(battery.level == .full)
  }

  @Test func onBatteryAndLowIsSaidInWords() {
    var reports = reports()
    reports.take(.feature, HIDSamples.bytes("08 0c 78 00 2c 01"))
    // Discharging, and below the limit.
    reports.take(.input, HIDSamples.bytes("0b 0c"))
    let battery = reports.battery()
    #expect(battery.charge == .discharging)
    #expect(battery.percent == 12)
    #expect(battery.level == .low)
    #expect(battery.warnings == ["battery-low"])
    let onBattery = reports.values().first { $0.name == "on_battery" }
    #expect(onBattery?.content == .flag(true))
  }

  @Test func whatCameLastCounts() {
    var reports = reports()
    reports.take(.feature, HIDSamples.bytes("08 64 27 09 2c 01"))
    reports.take(.input, HIDSamples.bytes("08 32 10 00 2c 01"))
    #expect(reports.battery().percent == 50)
    reports.take(.feature, HIDSamples.bytes("08 33 10 00 2c 01"))
    #expect(reports.battery().percent == 51)
  }

  @Test func whatIsNotToldIsUnknown() {
    let battery = reports().battery()
    #expect(battery == BatteryReading())
    #expect(reports().values().allSatisfy { $0.content == nil })
  }

  @Test func aReportThatTheDescriptorLacksIsNotKept() {
    var reports = reports()
    let isKnown = [reports.take(.feature, [0xEE, 1, 2, 3]), reports.take(.feature, [])]
    #expect(isKnown == [false, false])
    // Too short for its values.
    reports.take(.feature, [0x08])
    #expect(reports.battery().percent == nil)
    // 120 percent are none.
    reports.take(.feature, HIDSamples.bytes("08 78 27 09 2c 01"))
    #expect(reports.battery().percent == nil)
  }

  @Test func valuesHaveUnitsAndRoles() throws {
    var reports = reports()
    for text in ["0e e6", "0f e7", "12 e5", "13 11", "18 c2 01", "0c 02", "14 01", "15 ff ff", "10 5a 8c"] {
      reports.take(.feature, HIDSamples.bytes(text))
    }
    let values = Dictionary(uniqueKeysWithValues: reports.values().map { ($0.name, $0) })
    // Its ratings and its limits aren't what people look for.
    #expect(values["load"]?.importance == .headline && values["input_voltage"]?.importance == .shown)
    #expect(values["rated_power"]?.importance == .rated && values["beeper"]?.importance == .setting)
    #expect(values["input_voltage"]?.number == 231)
    #expect(values["input_voltage"]?.unit == .volt)
    #expect(values["input_voltage"]?.role == "input.voltage")
    #expect(values["input_voltage_nominal"]?.number == 230)
    #expect(values["output_voltage"]?.number == 229)
    #expect(values["load"]?.number == 17)
    #expect(values["rated_power"]?.number == 450)
    #expect(values["beeper"]?.content == .choice(word: "enabled", number: 2))
    #expect(values["test_result"]?.content == .choice(word: "passed", number: 1))
    // None is pending.
    let delay = try #require(values["shutdown_delay"])
    #expect(delay.content == nil)
  }

  @Test func theVoltageOfSomeCyberPowersIsThreeHalvesTooHigh() {
    let quirks = PowerQuirks.of(vendor: 0x0764, product: 0x0501)
    var (plain, mended) = (reports(), reports(quirks))
    // 12.0 V is nominal, and 18.0 V is told.
    for text in ["09 78", "0a b4"] {
      plain.take(.feature, HIDSamples.bytes(text))
      mended.take(.feature, HIDSamples.bytes(text))
    }
    #expect(plain.battery().millivolts == 18_000)
    #expect(mended.battery().millivolts == 12_000)
  }

  @Test func aCutDescriptorKeepsWhatStandsBefore() {
    for count in 0..<HIDSamples.cyberPower.count {
      var reports = PowerReports(HIDReportDescriptor(HIDSamples.cyberPower.prefix(count)))
      reports.take(.feature, HIDSamples.bytes("08 64 27 09 2c 01"))
      _ = (reports.battery(), reports.values(), reports.fields.features(with: PowerReports.batteryUsages))
    }
  }
}
