// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Testing

@testable import AccessoryExport

/// Metrics of accessories, in both formats, read by a strict parser.
struct MetricsTests {
  private let now = MonotonicTime(nanoseconds: 7_500_000_000)

  private func text(_ readings: ReadingsSnapshot, _ format: MetricsFormat) -> String {
    format.text(AccessoryMetrics.families(readings, now: now, wallClock: 1_700_000_000.25, version: "1.2.3"))
  }

  /// The samples of a snapshot, which are the same in both formats.
  private func samples(_ readings: ReadingsSnapshot) throws -> [ExpositionParser.Sample] {
    let plain = try ExpositionParser(text(readings, .prometheus), .prometheus).samples
    #expect(try ExpositionParser(text(readings, .openMetrics), .openMetrics).samples == plain)
    return plain
  }

  private func value(_ name: String, _ labels: [String: String] = [:], in readings: ReadingsSnapshot) throws -> Double?
  {
    try samples(readings).first { sample in
      sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
    }?.value
  }

  @Test func metricsAreWrittenInBothFormats() {
    var snapshot = ReadingsSnapshot.sample("a\"b\\c\nd", battery: BatteryReading(percent: 57))
    snapshot.accessories[0].driver = nil
    let plain = text(snapshot, .prometheus).split(separator: "\n").map(String.init)
    #expect(plain.contains("# TYPE accessory_info gauge"))
    #expect(plain.contains("# TYPE accessory_disconnects_total counter"))
    #expect(plain.contains(#"accessory_battery_charge_ratio{id="a\"b\\c\\u{a}d"} 0.57"#))
    let open = text(snapshot, .openMetrics).split(separator: "\n").map(String.init)
    #expect(open.contains("# TYPE accessory info"))
    #expect(open.contains("# TYPE accessory_disconnects counter"))
    #expect(open.contains("# UNIT accessory_battery_charge_ratio ratio"))
    #expect(open.contains(#"accessory_disconnects_total{id="a\"b\\c\\u{a}d"} 0"#))
    #expect(open.last == "# EOF")
  }

  /// A state that isn't known, or that an accessory doesn't know itself, is no metric.
  @Test func anUnknownStateIsNoMetric() throws {
    for state in [nil, .notInitialized] as [AccessoryState?] {
      let unknown = ReadingsSnapshot.sample { $0.status = AccessoryStatus(state: state) }
      #expect(try !samples(unknown).contains { ["accessory_state", "accessory_fault_code"].contains($0.name) })
    }
    let busy = ReadingsSnapshot.sample { $0.status = AccessoryStatus(state: .busy) }
    #expect(try value("accessory_state", ["state": "busy"], in: busy) == 1)
    #expect(try value("accessory_state", ["state": "idle"], in: busy) == 0)
  }

  @Test func raisedAlarmsAreMetrics() throws {
    var snapshot = ReadingsSnapshot.sample("a")
    snapshot.accessories[0].alarms = ["battery < 20 %", "a\"\n", "a\"\n"].map { .init(name: $0, rule: $0, since: 1) }
    let found = try samples(snapshot).filter { $0.name == "accessory_alarm" }
    #expect(found.map { $0.labels["name"] } == ["battery < 20 %", "a\"\\u{a}"] && found.map(\.value) == [1, 1])
  }

  @Test func everyPartOfABatteryIsAMetric() throws {
    var battery = BatteryReading(percent: 7, millivolts: 3_712, milliamperes: -125, charge: .discharging)
    (battery.cellMillivolts, battery.cycles, battery.healthPercent) = ([3_300, nil, 3_301], 12, 98)
    battery.temperatures = [.init(20_300), .init(30_000, name: "MOSFET"), .init(nil), .init(1, name: "MOSFET")]
    (battery.remainingMilliampereHours, battery.fullMilliampereHours) = (1_500, 10_000)
    (battery.timeToEmpty, battery.timeToFull) = (.seconds(60), .seconds(120))
    (battery.faults, battery.warnings) = (["hot", "hot", "cold"], [])
    let readings = ReadingsSnapshot.sample(battery: battery)
    let expected: [(String, [String: String], Double?)] = [
      ("accessory_battery_charge_ratio", [:], 0.07), ("accessory_battery_volts", [:], 3.712),
      ("accessory_battery_amperes", [:], -0.125), ("accessory_battery_cell_volts", ["cell": "1"], 3.3),
      ("accessory_battery_cell_volts", ["cell": "2"], nil), ("accessory_battery_cell_volts", ["cell": "3"], 3.301),
      ("accessory_battery_temperature_celsius", ["sensor": "1"], 20.3),
      ("accessory_battery_temperature_celsius", ["sensor": "MOSFET"], 30),
      ("accessory_battery_remaining_coulombs", [:], 5_400), ("accessory_battery_full_coulombs", [:], 36_000),
      ("accessory_battery_time_to_empty_seconds", [:], 60), ("accessory_battery_time_to_full_seconds", [:], 120),
      ("accessory_battery_cycles", [:], 12), ("accessory_battery_health_ratio", [:], 0.98),
      ("accessory_battery_low", [:], 1), ("accessory_battery_charge_state", ["state": "discharging"], 1),
      ("accessory_battery_charge_state", ["state": "charging"], 0), ("accessory_battery_faults", [:], 3),
      ("accessory_battery_fault", ["fault": "hot"], 1), ("accessory_battery_fault", ["fault": "cold"], 1),
      ("accessory_battery_warnings", [:], 0), ("accessory_readings_timestamp_seconds", [:], 1_699_999_997.75),
    ]
    for (name, labels, number) in expected {
      #expect(try value(name, labels, in: readings) == number, "\(name) \(labels)")
    }
  }

  @Test func valuesAreMetricsInBaseUnits() throws {
    let readings = ReadingsSnapshot.sample(
      values: [
        .init("output_voltage", quantity: .voltage, unit: .millivolt, number: 229_960),
        .init("load", quantity: .ratio, unit: .percent, number: 14),
        .init("energy", quantity: .energy, unit: .kilowattHour, number: 1.5),
        .init("speed", quantity: .speed, unit: .kilometrePerHour, number: 36),
        .init("strange", unit: "furlongs", number: 3), .init("plain", number: 4),
        .init("on", content: .flag(true)), .init("mode", content: .choice(word: "fast \"x\"", number: 2)),
        .init("text", content: .text("x")), .init("unknown", quantity: .voltage, unit: .volt, number: nil),
        .init("hidden\u{7}", number: 5),
      ])
    let expected: [(String, [String: String], Double?)] = [
      ("accessory_value_volts", ["name": "output_voltage", "quantity": "voltage"], 229.96),
      ("accessory_value_ratio", ["name": "load"], 0.14), ("accessory_value_joules", ["name": "energy"], 5_400_000),
      ("accessory_value_meters_per_second", ["name": "speed"], 10),
      ("accessory_value", ["name": "strange", "unit": "furlongs"], 3), ("accessory_value", ["name": "plain"], 4),
      ("accessory_value_flag", ["name": "on"], 1),
      ("accessory_value_choice", ["name": "mode", "word": "fast \"x\""], 2),
    ]
    for (name, labels, number) in expected {
      #expect(try value(name, labels, in: readings).map { ($0 * 1e6).rounded() / 1e6 } == number, "\(name) \(labels)")
    }
    for name in ["text", "unknown", "hidden\u{7}"] {
      #expect(try !samples(readings).contains { $0.labels["name"] == name })
    }
  }

  @Test(arguments: MeasurementUnit.known) func everyUnitHasABaseUnit(_ unit: MeasurementUnit) throws {
    let scale = try #require(unit.scale, "\(unit)")
    let words = scale.base.split(separator: "_")
    #expect(scale.factor > 0 && words.allSatisfy { $0.utf8.allSatisfy { (0x61...0x7A).contains($0) } })
  }

  /// A number is never shown longer than it is true.
  @Test func whatIsNotFreshIsNotThere() throws {
    var lost = ReadingsSnapshot.sample()
    lost.services[0].isUp = false
    for readings in [ReadingsSnapshot.sample { $0.isConnected = false }, .sample { $0.isStale = true }, lost] {
      #expect(try value("accessory_battery_volts", in: readings) == nil)
      #expect(try value("accessory_info", in: readings) == 1)
    }
    #expect(try value("accessory_connected", in: lost) == 0)
    #expect(try value("accessory_connected", in: .sample { $0.isStale = true }) == 1)
    #expect(try value("accessory_readings_stale", in: .sample { $0.isStale = true }) == 1)
    #expect(try value("accessory_readings_stale", in: .sample()) == 0)
    #expect(try value("accessory_service_up", ["socket": "/run/a.socket"], in: lost) == 0)
  }

  @Test func whatIsMissingIsAMetric() throws {
    let readings = ReadingsSnapshot.sample(battery: BatteryReading(millivolts: 3712)) {
      $0.missing = "it does not answer charge"
    }
    #expect(try value("accessory_readings_missing", in: readings) == 1)
    #expect(try value("accessory_battery_volts", in: readings) == 3.712)
    #expect(try value("accessory_battery_percent", in: readings) == nil)
    #expect(try value("accessory_readings_missing", in: .sample()) == 0)
  }

  @Test func labelsOfMetricsAreBounded() throws {
    let long = String(repeating: "\u{e9}", count: 3_000)
    let readings = ReadingsSnapshot.sample { $0.device.model = long }
    let model = try #require(try samples(readings).first { $0.name == "accessory_info" }?.labels["model"])
    #expect(model.utf8.count <= AccessoryMetrics.labelLimit && long.hasPrefix(model))
  }

  @Test func withoutAccessoriesOnlyTheBuildIsAMetric() throws {
    #expect(try samples(ReadingsSnapshot()).map(\.name) == ["accessory_bridge_build_info"])
  }

  /// A quotation mark and a combining mark behind it are one character, and still the label begins between them.
  @Test func aLabelBeginsWithACombiningMark() throws {
    let text = "# HELP a x\n# TYPE a gauge\na{b=\"\u{59D}c\"} 1\n"
    #expect(try ExpositionParser(text, .prometheus).samples.first?.labels == ["b": "\u{59D}c"])
  }

  /// The parser that the others trust finds what it should.
  @Test(arguments: [
    "a 1\n", "# HELP a x\n# TYPE a gauge\na 1", "# HELP a x\n# TYPE a gauge\nb 1\n",
    "# HELP a x\n# TYPE a gauge\na NaN\n",
    "# HELP a x\n# TYPE a gauge\na 1\na 2\n", "# HELP a x\n# TYPE a gauge\na{b=\"\\q\"} 1\n",
    "# HELP a x\n# TYPE a info\na 1\n",
    "# HELP a x\n# TYPE a gauge\na{b=\"1\",b=\"2\"} 1\n", "# HELP a x\n# TYPE a counter\na 1\n", "# EOF",
    "# HELP a x\n# TYPE a gauge\na{b=\"c} 1\n", "# HELP a x\n# TYPE a gauge\na{1b=\"c\"} 1\n",
    "# HELP a x\n# TYPE a gauge\na 1\n# HELP b x\n# TYPE b gauge\nb 1\n# HELP a x\n",
  ])
  func theParserIsStrict(_ text: String) {
    #expect(throws: ExpositionParser.Problem.self) { _ = try ExpositionParser(text, .prometheus) }
    #expect(throws: ExpositionParser.Problem.self) { _ = try ExpositionParser(text, .openMetrics) }
  }
}
