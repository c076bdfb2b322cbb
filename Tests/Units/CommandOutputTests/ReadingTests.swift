// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import CommandOutput
import Testing

/// Batteries, states and values as people see them.
@Suite struct ReadingTests {
  @Test(
    arguments: [
      (BatteryReading(), "charge not known"),
      (BatteryReading(percent: 57), "57 %  normal"),
      (BatteryReading(percent: 0, charge: .notCharging), "0 %  critical  not charging"),
      (BatteryReading(level: .low, millivolts: 3_005), "low  3.005 V"),
      (
        BatteryReading(percent: 100, level: .full, millivolts: 4_200, milliamperes: -20, charge: .discharging),
        "100 %  full  4.200 V  -0.020 A  discharging"
      ),
      (BatteryReading(level: .high, charge: .charging), "high  charging"),
    ])
  func aBatterysLineNamesWhatIsKnown(reading: BatteryReading, line: String) {
    #expect(BatteryView.line(reading, Samples.pipe) == line)
  }

  /// A terminal shows a bar, 20 characters wide.
  @Test(
    arguments: [
      (0, 0), (2, 0), (3, 1), (57, 11), (97, 19), (98, 20), (100, 20), (255, 20), (-1, 0),
    ] as [(Int, Int)])
  func aBatterysBarIsFilledByItsPercent(percent: Int, filled: Int) {
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 20 - filled)
    let reading = BatteryReading(percent: percent, level: .normal)
    #expect(BatteryView.line(reading, Samples.terminal) == "\(percent) %  \(bar)  normal")
  }

  @Test(
    arguments: [(.critical, "31"), (.low, "33"), (.normal, "32"), (.high, "32"), (.full, "32")]
      as [(BatteryReading.Level, String)])
  func aBatterysLevelHasItsColour(level: BatteryReading.Level, code: String) {
    let line = BatteryView.line(BatteryReading(percent: 50, level: level), Samples.coloured)
    let bar = String(repeating: "█", count: 10) + String(repeating: "░", count: 10)
    #expect(
      line == "\u{1B}[1m50 %\u{1B}[0m  \u{1B}[\(code)m\(bar)\u{1B}[0m  \u{1B}[\(code)m\(level.rawValue)\u{1B}[0m")
  }

  @Test func anUnknownLevelHasNoColour() {
    #expect(BatteryView.line(BatteryReading(), Samples.coloured) == "charge not known")
  }

  /// What isn't known has no row.
  @Test func detailsOfABatteryHaveRowsForTheKnown() {
    #expect(BatteryDetails.facts(BatteryReading(percent: 57, millivolts: 3_712), Samples.pipe).isEmpty)
    var reading = BatteryReading(percent: 57)
    (reading.timeToFull, reading.cycles, reading.healthPercent) = (.seconds(75), 0, 98)
    reading.cellMillivolts = [nil, nil]
    (reading.faults, reading.warnings) = (["short\u{1B}circuit", "hot"], [])
    (reading.remainingMilliampereHours, reading.milliwatts) = (1_500, -106_500)
    reading.derived.insert(.remainingCapacity)
    func rows(_ style: Style) -> [String] { BatteryDetails.facts(reading, style).map { "\($0): \($1)" } }
    #expect(
      rows(Samples.pipe) == [
        "Power: -106.5 W", "Time to full: 1 min 15 s", "Cells: 2, not known", "Capacity: 1.5 Ah left", "Cycles: 0",
        "Health: 98 %",
        #"Faults: short\u{1b}circuit, hot"#, "Warnings: none",
      ])
    #expect(rows(Samples.coloured).contains("Faults: \u{1B}[31mshort\\u{1b}circuit, hot\u{1B}[0m"))
    reading.remainingMilliampereHours = nil
    reading.fullMilliampereHours = 2_000
    #expect(rows(Samples.pipe).contains("Capacity: 2 Ah when full"))
  }

  /// Cells are listed where all of them fit the line.
  @Test(arguments: [(nil, false), (33, false), (34, true)] as [(Int?, Bool)])
  func cellsAreListedWhereTheyFitTheLine(columns: Int?, isListed: Bool) {
    var reading = BatteryReading()
    reading.cellMillivolts = [3_301, nil, 3_345, 3_300]
    let facts = BatteryDetails.facts(reading, columns: columns, Samples.pipe).map { "\($0): \($1)" }
    #expect(facts.first == "Cells: 4, 3.300 V to 3.345 V, 45 mV apart, 1 not known")
    #expect(facts.contains("Cell voltages: 3.301 - 3.345 3.300") == isListed && facts.count == (isListed ? 2 : 1))
  }

  /// What was measured, with ages and origins where there are such.
  @Test func measurementsHaveAgesAndOriginsWhereKnown() {
    let power = Read(AccessoryValue("pv_power", quantity: .power, unit: .watt, number: 36.5))
    let mode = Read(
      AccessoryValue("mode", quantity: .state, content: .choice(word: "bulk", number: 3)), age: .milliseconds(1_590))
    let on = Read(AccessoryValue("relay", content: .flag(true), isDerived: true), age: .milliseconds(61_000))
    let unknown = Read(AccessoryValue("current", quantity: .current, unit: .ampere, content: nil))
    #expect(
      MeasurementView.table([power, unknown], Samples.pipe) == [
        "name      value  unit", "pv_power  36.5   W", "current   -      A",
      ])
    #expect(
      MeasurementView.table([power, mode, on], Samples.pipe) == [
        "name      value  unit  age         origin", "pv_power  36.5   W", "mode      bulk         1.5 s",
        "relay     yes          1 min 01 s  derived",
      ])
    #expect(MeasurementView.line(power.value, width: 10) == "pv_power    36.5 W")
    #expect(MeasurementView.line(unknown.value, width: 0) == "current  -")
  }

  /// On a narrow terminal whole columns go, and the name, the value and its unit stay in one row.
  @Test(arguments: [40, 80, 120]) func measurementsFitTheirTerminal(columns: Int) {
    let voltage = Read(
      AccessoryValue("rated_battery_voltage", quantity: .voltage, unit: .volt, content: .number(24), isDerived: true),
      age: .milliseconds(61_000))
    #expect(
      MeasurementView.table([voltage], Samples.pipe, columns: columns)
        == (columns == 40
          ? ["name                   value  unit", "rated_battery_voltage  24     V"]
          : [
            "name                   value  unit  age         origin",
            "rated_battery_voltage  24     V     1 min 01 s  derived",
          ]))
  }

  /// The table of all batteries: no column is cut at any width, and a colour takes no room.
  @Test(arguments: [40, 80, 120]) func theTableOfBatteriesFitsItsWidth(columns: Int) {
    let pack = BatteryReading(
      percent: 64, millivolts: 58_880, milliamperes: 0, charge: .notCharging)
    let low = BatteryReading(percent: 18, millivolts: 3_462, charge: .discharging)
    let lines = BatteryTable.lines(
      [
        ("BANK-A", Read(pack, age: .milliseconds(1_500)), nil, nil),
        ("SENSOR-3", Read(low, age: .milliseconds(75_000), isStale: true), nil, nil),
      ], Samples.pipe, columns: columns)
    #expect(
      lines
        == (columns == 40
          ? ["ACCESSORY  CHARGE  READ", "BANK-A     64 %    1.5 s", "SENSOR-3   18 %    1 min 15 s, stale"]
          : [
            "ACCESSORY  CHARGE  LEVEL   VOLTAGE   CURRENT  STATE         TO EMPTY  READ",
            "BANK-A     64 %    normal  58.880 V  0.000 A  not charging  -         1.5 s",
            "SENSOR-3   18 %    low     3.462 V   -        discharging   -         1 min 15 s, stale",
          ].map { columns == 80 ? $0.replacing("TO EMPTY  ", with: "").replacing("-         1", with: "1") : $0 }))
    let coloured = BatteryTable.lines([("BANK-A", Read(pack), nil, nil)], Samples.coloured)
    #expect(coloured[1].contains("\u{1B}[32m64 %\u{1B}[0m    \u{1B}[32mnormal\u{1B}[0m  58.880 V"))
  }

  @Test func factsOfAStatusNameWhatIsKnown() {
    func rows(_ status: AccessoryStatus) -> [String] { StatusView.facts(status).map { "\($0) \($1)" } }
    #expect(rows(AccessoryStatus(state: .idle, reportsFaults: true)) == ["State idle", "Fault none"])
    #expect(rows(AccessoryStatus(state: .busy)) == ["State busy"], "it doesn't report faults")
    #expect(rows(AccessoryStatus(reportsFaults: true)) == ["Fault none"])
    #expect(rows(AccessoryStatus()).isEmpty, "what isn't known has no row")
    #expect(rows(AccessoryStatus(state: .notInitialized)) == ["State not_initialized"])
    let fault = StatusView.facts(AccessoryStatus(state: .fault, faultCode: 7, progress: 0))
    #expect(fault.map { "\($0) \($1)" } == ["State fault", "Fault 7", "Progress 0 %"])
  }

  @Test func factsOfAnIdentityNameWhatIsKnown() {
    let facts = StatusView.facts(
      AccessoryIdentity(manufacturer: "Acme", name: "two\nlines", serialNumber: "L1", hardwareRevision: "B"))
    #expect(
      facts.map { "\($0) \($1)" } == [
        "Manufacturer Acme", #"Name two\u{a}lines"#, "Serial L1", "Hardware B",
      ])
  }

  @Test func valuesOfRepliesAreWrittenAsText() {
    #expect(ValueView.text(.whole(-3)) == "-3")
    #expect(ValueView.text(.number(0.5)) == "0.5")
    #expect(ValueView.text(.text("a\u{7}")) == #"a\u{7}"#)
    #expect(ValueView.text(.list([])) == "none")
    #expect(ValueView.text(.list([.text("A"), .flag(true), .flag(false)])) == "A, yes, no")
    #expect(ValueView.text(.bytes([0, 255])) == "00ff")
    #expect(ValueView.text(.nothing) == "-")
  }

  /// Names only where there are several values, units only where there is a value.
  @Test func severalValuesHaveTheirNames() {
    let speed = NamedValue("speed", unit: "%", .whole(50))
    #expect(ValueView.line([speed]) == "50 %")
    #expect(ValueView.line([speed, NamedValue("mode", .text("run"))]) == "speed: 50 %, mode: run")
    #expect(ValueView.line([NamedValue("tacho", unit: "°", .nothing)]) == "-")
    #expect(ValueView.line([]) == "")
  }
}
