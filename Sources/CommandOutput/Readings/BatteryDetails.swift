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
    // Values in the battery's line have no row of their own. What people look for first comes first.
    for term in Vocabulary.shown.filter({ $0.importance == .headline })
      + Vocabulary.shown.filter({ $0.importance != .headline })
    where !term.isInLine {
      switch BatteryReading.Field(rawValue: term.key) {
      case .cells:
        cells(reading.cellMillivolts).map { facts.append((term.label, $0)) }
        list(reading.cellMillivolts, columns: columns).map { facts.append(("Cell voltages", $0)) }
      case .remainingCapacity: capacity(reading).map { facts.append(("Capacity", $0)) }
      case .power:
        let power = ReadingText.text(term, of: reading) ?? reading.powerInMilliwatts.map(HeadlineView.power)
        power.map { facts.append((term.label, $0)) }
      case .fullCapacity: break  // The row of the remaining capacity says it.
      case let field:
        let paint = field == .faults ? style.red : style.yellow
        ReadingText.text(term, of: reading, paint: paint).map { facts.append((term.label, $0)) }
      }
    }
    return facts
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

  /// All cell voltages, if they fit on a line of the terminal after the row's name.
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
}
