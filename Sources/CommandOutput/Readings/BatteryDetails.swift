// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// Details of a battery for people: rows for `Table.facts`, one for each known value.
package enum BatteryDetails {
  /// `columns` is the terminal's width; nil without a terminal. Cell voltages are listed only where they fit.
  package static func facts(
    _ reading: BatteryReading, columns: Int? = nil, _ style: Style = .standardOutput
  ) -> [(String, String)] {
    var facts: [(String, String)] = []
    func add(_ name: String, _ text: String?) { if let text { facts.append((name, text)) } }
    func add(_ field: BatteryReading.Field, _ text: String?) { add(ReadingLabel.text(field), text) }
    add(.timeToEmpty, reading.timeToEmpty.map { ProgressText.time($0) })
    add(.timeToFull, reading.timeToFull.map { ProgressText.time($0) })
    add(.temperatures, temperatures(reading.temperatures))
    add(.cells, cells(reading.cellMillivolts))
    add("Cell voltages", list(reading.cellMillivolts, columns: columns))
    add("Capacity", capacity(reading))
    add(.cycles, reading.cycles.map { "\($0)" })
    add(.health, reading.healthPercent.map { "\($0) %" })
    add(.faults, reading.faults.map { names($0, style.red) })
    add(.warnings, reading.warnings.map { names($0, style.yellow) })
    let derived = reading.derived.subtracting([.level]).map { ReadingLabel.text($0).lowercased() }.sorted()
    add("Derived", derived.isEmpty ? nil : derived.joined(separator: ", "))
    return facts
  }

  private static func temperatures(_ all: [BatteryReading.Temperature]) -> String? {
    guard !all.isEmpty else { return nil }
    return all.map { temperature in
      let name = temperature.name.map { SafeText.escape($0) + " " } ?? ""
      return name + (temperature.millidegrees.map { DecimalText.short(Double($0) / 1_000) + " °C" } ?? "-")
    }.joined(separator: ", ")
  }

  /// "16, 3.300 V to 3.345 V, 45 mV apart".
  private static func cells(_ cells: [Int?]) -> String? {
    guard !cells.isEmpty else { return nil }
    let known = cells.compactMap { $0 }
    guard let least = known.min(), let most = known.max() else { return "\(cells.count), not known" }
    let missing = cells.count == known.count ? "" : ", \(cells.count - known.count) not known"
    return "\(cells.count), \(DecimalText.thousandths(least)) V to \(DecimalText.thousandths(most)) V, "
      + "\(most - least) mV apart\(missing)"
  }

  /// All cell voltages, where they fit on a line of the terminal after the row's name.
  private static func list(_ cells: [Int?], columns: Int?) -> String? {
    let text = cells.map { $0.map(DecimalText.thousandths) ?? "-" }.joined(separator: " ")
    guard let columns, !cells.isEmpty, TextWidth.of(text) + "Cell voltages  ".count <= columns else { return nil }
    return text
  }

  private static func capacity(_ reading: BatteryReading) -> String? {
    func hours(_ milliamperes: Int) -> String { DecimalText.short(Double(milliamperes) / 1_000) }
    switch (reading.remainingMilliampereHours, reading.fullMilliampereHours) {
    case (let left?, let full?): return "\(hours(left)) of \(hours(full)) Ah"
    case (let left?, nil): return "\(hours(left)) Ah left"
    case (nil, let full?): return "\(hours(full)) Ah when full"
    case (nil, nil): return nil
    }
  }

  private static func names(_ names: [String], _ paint: (String) -> String) -> String {
    names.isEmpty ? "none" : paint(names.map { SafeText.escape($0) }.joined(separator: ", "))
  }
}
