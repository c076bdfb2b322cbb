// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput
import Testing

/// Batteries, states and values as people see them.
@Suite struct ReadingTests {
  @Test(
    arguments: [
      (BatteryReading(), "level unknown"),
      (BatteryReading(percent: 57), "57 %  normal"),
      (BatteryReading(percent: 0, charge: .notCharging), "0 %  critical  not charging"),
      (BatteryReading(level: .low, millivolts: 3_005), "low  3.005 V"),
      (
        BatteryReading(percent: 100, level: .full, millivolts: 4_200, milliamperes: -20, charge: .discharging),
        "100 %  full  4.200 V  -0.020 A  discharging"
      ),
      (BatteryReading(level: .high, charge: .charging), "high  charging"),
    ])
  func battery(reading: BatteryReading, line: String) { #expect(BatteryView.line(reading, Samples.pipe) == line) }

  /// A terminal shows a bar, 20 characters wide.
  @Test(
    arguments: [
      (0, 0), (2, 0), (3, 1), (57, 11), (97, 19), (98, 20), (100, 20), (255, 20),
    ] as [(UInt8, Int)])
  func bar(percent: UInt8, filled: Int) {
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 20 - filled)
    let reading = BatteryReading(percent: percent, level: .normal)
    #expect(BatteryView.line(reading, Samples.terminal) == "\(percent) %  \(bar)  normal")
  }

  @Test(
    arguments: [(.critical, "31"), (.low, "31"), (.normal, "33"), (.high, "32"), (.full, "32")]
      as [(BatteryReading.Level, String)])
  func colours(level: BatteryReading.Level, code: String) {
    let line = BatteryView.line(BatteryReading(percent: 50, level: level), Samples.coloured)
    let bar = String(repeating: "█", count: 10) + String(repeating: "░", count: 10)
    #expect(
      line == "\u{1B}[1m50 %\u{1B}[0m  \u{1B}[\(code)m\(bar)\u{1B}[0m  \u{1B}[\(code)m\(level.rawValue)\u{1B}[0m")
  }

  @Test func noColourOfWhatIsUnknown() {
    #expect(BatteryView.line(BatteryReading(), Samples.coloured) == "level unknown")
  }

  @Test func status() {
    let idle = StatusView.facts(AccessoryStatus(state: .idle))
    #expect(idle.map { "\($0) \($1)" } == ["State idle", "Fault none", "Progress -"])
    let fault = StatusView.facts(AccessoryStatus(state: .fault, faultCode: 7, progress: 0))
    #expect(fault.map { "\($0) \($1)" } == ["State fault", "Fault 7", "Progress 0 %"])
    let unknown = StatusView.facts(AccessoryStatus(state: .notInitialized))
    #expect(unknown[0].1 == "not_initialized")
  }

  @Test func identity() {
    let facts = StatusView.facts(
      AccessoryIdentity(manufacturer: "Acme", name: "two\nlines", serialNumber: "L1", hardwareRevision: "B"))
    #expect(
      facts.map { "\($0) \($1)" } == [
        "Manufacturer Acme", #"Name two\u{a}lines"#, "Model -", "Serial L1", "Firmware -", "Hardware B",
      ])
  }

  @Test func values() {
    #expect(ValueView.text(.whole(-3)) == "-3")
    #expect(ValueView.text(.number(0.5)) == "0.5")
    #expect(ValueView.text(.text("a\u{7}")) == #"a\u{7}"#)
    #expect(ValueView.text(.list([])) == "none")
    #expect(ValueView.text(.list([.text("A"), .flag(true), .flag(false)])) == "A, yes, no")
    #expect(ValueView.text(.bytes([0, 255])) == "00ff")
    #expect(ValueView.text(.nothing) == "-")
  }

  /// Names only where there are several values, units only where there is a value.
  @Test func linesOfValues() {
    let speed = NamedValue("speed", unit: "%", .whole(50))
    #expect(ValueView.line([speed]) == "50 %")
    #expect(ValueView.line([speed, NamedValue("mode", .text("run"))]) == "speed: 50 %, mode: run")
    #expect(ValueView.line([NamedValue("tacho", unit: "°", .nothing)]) == "-")
    #expect(ValueView.line([]) == "")
  }
}
