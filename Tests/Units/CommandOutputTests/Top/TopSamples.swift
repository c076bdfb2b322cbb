// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Console

@testable import CommandOutput

/// Accessories for the tests of `top`.
enum TopSample {
  static let now = MonotonicTime(nanoseconds: 1_000_000_000_000)

  /// The key of the row with this name.
  static func key(_ name: String) -> UInt64 { name.utf8.reduce(0) { $0 &* 257 &+ UInt64($1) } }

  static func row(
    _ name: String, percent: Int? = 57, charge: BatteryReading.Charge = .discharging, millivolts: Int? = 3_712,
    milliamperes: Int? = -250, age: Duration? = .seconds(3), status: AccessoryStatus? = AccessoryStatus(state: .idle)
  ) -> TopRow {
    var row = TopRow(key: key(name), name: name, accessory(name))
    row.battery = BatteryReading(
      percent: percent, millivolts: millivolts, milliamperes: milliamperes, charge: charge)
    row.readTime = age.map { now + (Duration.zero - $0) }
    row.status = status
    return row
  }

  static func accessory(_ name: String) -> MirroredAccessory {
    MirroredAccessory(service: "s", device: Device(id: name, path: name, source: .udev))
  }

  /// What the service says of an accessory.
  static func record(_ row: TopRow, _ state: Bridge.AttachmentState, tries: Int = 0) -> Bridge.Accessory {
    var record = Bridge.Accessory(device: row.device, state: state, tries: tries)
    if tries > 0 { (record.tries_limit, record.next_try_ms) = (3, 1_000) }
    return record
  }

  /// A battery with cells, faults and values.
  static var pack: TopRow {
    var row = row("PACK1", percent: 12, millivolts: 52_800)
    row.battery?.cellMillivolts = [3_300, 3_345, nil, 3_310]
    row.battery?.faults = ["cell overvoltage"]
    row.battery?.temperatures = [.init(23_450, name: "cell 1"), .init(nil)]
    row.accessory.values = ValuesReading(
      [
        AccessoryValue("power", quantity: .power, unit: .watt, content: .number(-13.2)),
        AccessoryValue("mode", content: .text("float")),
      ], at: now)
    row.profile = "jbd"
    return row
  }

  /// Names and words that a terminal would act on, or that break a layout.
  static var hostile: [TopRow] {
    [
      "\u{1B}[2J\u{1B}]0;owned\u{7}", "a\nb\rc\td", "\u{202E}drow", String(repeating: "長い名前", count: 40),
      "e\u{301}" + String(repeating: "\u{301}", count: 60), "👩‍👩‍👧‍👦 family", "",
    ].enumerated().map { index, name in
      var row = TopRow(key: UInt64(index), name: name, accessory(name))
      row.battery = BatteryReading(
        percent: 100, level: .full, millivolts: ReadingLimits.electrical.upperBound,
        milliamperes: ReadingLimits.electrical.lowerBound, charge: .charging)
      row.battery?.faults = [name]
      row.battery?.temperatures = [.init(ReadingLimits.millidegrees.upperBound, name: name)]
      row.battery?.cellMillivolts = Array(repeating: ReadingLimits.electrical.upperBound, count: 255)
      row.accessory.values = ValuesReading(
        [AccessoryValue(name, unit: MeasurementUnit(rawValue: name), content: .number(.greatestFiniteMagnitude))],
        at: now)
      row.status = AccessoryStatus(state: .fault, faultCode: .max)
      return row
    }
  }

  static func model(_ rows: [TopRow], sort: TopSort = .name) -> TopModel {
    var model = TopModel(title: "bridge-cli top", sort: sort)
    for row in rows { model.put(row) }
    return model
  }

  /// The rows of the screen as text.
  static func text(
    _ model: inout TopModel, columns: Int, rows: Int, isASCII: Bool = false, now: MonotonicTime = now
  ) -> [String] {
    let (grid, _) = TopScreen(TopGlyphs(isASCII: isASCII)).draw(&model, columns: columns, rows: rows, now: now)
    return (0..<grid.rows).map { grid.text(row: $0) }
  }
}
