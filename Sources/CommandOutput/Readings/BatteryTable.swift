// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Console

/// The batteries of several accessories, as a table for people.
package enum BatteryTable {
  /// One line for each accessory: its identity, and its battery with its age or the error that prevented reading it. `columns` is the
  /// terminal's width; nil without a terminal.
  package static func lines(
    _ rows: [(id: String, battery: Read<BatteryReading>?, supply: ReadValues?, problem: String?)],
    _ style: Style = .standardOutput,
    columns: Int? = nil
  ) -> [String] {
    let hasAges = rows.contains { AgeView.isWorthSaying($0.battery?.age?.inMilliseconds) }
    let supplies = rows.map { row in
      HeadlineView.words(Headline(values: row.supply?.map(\.value) ?? [])).joined(separator: ", ")
    }
    let hasSupplies = supplies.contains { !$0.isEmpty }
    let hasProblems = rows.contains { $0.problem != nil }
    let header =
      ["ACCESSORY"] + terms.compactMap(\.column?.title) + (hasSupplies ? ["SUPPLY"] : [])
      + (hasAges ? ["READ"] : []) + (hasProblems ? ["PROBLEM"] : [])
    var table = Table(header, optional: Self.leaving, endsInText: hasProblems)
    for (row, supply) in zip(rows, supplies) {
      table.add(
        [Table.cell(row.id)] + cells(row.battery?.value, style)
          + (hasSupplies ? [supply.isEmpty ? "-" : supply] : [])
          + (hasAges ? [row.battery.flatMap { AgeView.text($0) } ?? "-"] : [])
          + (hasProblems ? [row.problem.map { SafeText.escape($0, limit: 300) } ?? "-"] : []))
    }
    return table.lines(style, columns: columns)
  }

  /// The rows of the vocabulary that have a column.
  private static let terms = Vocabulary.shown.filter { $0.column != nil }
  /// The columns that are omitted if not all fit, in order of omission.
  private static let leaving = terms.enumerated().compactMap { place, term in
    term.column?.leavingOrder.map { (place: place + 1, order: $0) }
  }.sorted { $0.order < $1.order }.map(\.place)

  private static func cells(_ battery: BatteryReading?, _ style: Style) -> [String] {
    terms.map { term in
      guard let battery, let text = ReadingText.text(term, of: battery) else { return "-" }
      switch BatteryReading.Field(rawValue: term.key) {
      case .percent?, .level?: return style.paint(text, battery.colour)
      // "about": the time is calculated from the present current.
      case let field?:
        return (term.measure?.unit == .second && battery.derived.contains(field) ? "about " : "") + text
      case nil: return text
      }
    }
  }
}
