// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// The batteries of several accessories, as a table for people.
package enum BatteryTable {
  /// One line for each accessory: its identity; its battery, its reading's age in milliseconds, and whether that is too old; or
  /// the message of the error why there is none. `columns` is the terminal's width; nil without a terminal.
  package static func lines(
    _ rows: [(id: String, battery: BatteryReading?, age: Int?, isStale: Bool, problem: String?)],
    _ style: Style = .standardOutput, columns: Int? = nil
  ) -> [String] {
    let hasAges = rows.contains { $0.age != nil }
    let hasProblems = rows.contains { $0.problem != nil }
    let header =
      ["ACCESSORY", "CHARGE", "LEVEL", "VOLTAGE", "CURRENT", "STATE", "TO EMPTY"] + (hasAges ? ["READ"] : [])
      + (hasProblems ? ["PROBLEM"] : [])
    var table = Table(header, optional: [6, 4, 2, 3, 5], endsInText: hasProblems)
    for row in rows {
      table.add(
        [Table.cell(row.id)] + cells(row.battery, style)
          + (hasAges ? [row.age.map { AgeView.text($0, isStale: row.isStale) } ?? "-"] : [])
          + (hasProblems ? [row.problem.map { SafeText.escape($0, limit: 300) } ?? "-"] : []))
    }
    return table.lines(style, columns: columns)
  }

  private static func cells(_ battery: BatteryReading?, _ style: Style) -> [String] {
    guard let battery else { return [String](repeating: "-", count: 6) }
    return [
      battery.percent.map { style.paint("\($0) %", battery.level.colour) } ?? "-",
      battery.level == .unknown ? "-" : style.paint(battery.level.rawValue, battery.level.colour),
      battery.millivolts.map { DecimalText.thousandths($0) + " V" } ?? "-",
      battery.milliamperes.map { DecimalText.thousandths($0) + " A" } ?? "-",
      battery.charge == .unknown ? "-" : battery.charge == .notCharging ? "not charging" : battery.charge.rawValue,
      // "about": it was calculated from the present current.
      battery.timeToEmpty.map {
        (battery.derived.contains(.timeToEmpty) ? "about " : "") + ProgressText.time($0)
      } ?? "-",
    ]
  }
}
