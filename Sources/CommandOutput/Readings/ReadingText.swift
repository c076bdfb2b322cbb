// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// A quantity of a reading, as a text for people.
package enum ReadingText {
  /// "57 %", "3.712 V", "1 h 20 min", "not charging"; nil if unknown. For a list, all elements: "MOSFET 30 °C, 20.3 °C". `paint`
  /// colours the names.
  package static func text<Reading>(
    _ term: ReadingTerm<Reading>, of reading: Reading, paint: (String) -> String = { $0 }
  ) -> String? {
    switch term.form {
    case .number(let measure, let get, _): get(reading).map { number($0, measure) }
    case .word(_, let get, _): get(reading)?.replacing("_", with: " ")
    case .list(let measure, _, _, let get, _): list(get(reading), measure)
    case .names(let get, _):
      get(reading).map { $0.isEmpty ? "none" : paint($0.map { SafeText.escape($0) }.joined(separator: ", ")) }
    }
  }

  /// "3.712 V", "-106 W": volts and amperes have three digits behind the point; seconds are a time.
  private static func number(_ count: Int, _ measure: Measure) -> String {
    if measure.unit == .second { return ProgressText.time(.seconds(count)) }
    let hasThousandths = measure.unit == .volt || measure.unit == .ampere
    let number = hasThousandths ? DecimalText.thousandths(count) : DecimalText.short(measure.value(count))
    return number + (measure.unit.map { " \($0)" } ?? "")
  }

  private static func list(_ elements: [ReadingElement], _ measure: Measure) -> String? {
    guard !elements.isEmpty else { return nil }
    return elements.map { element in
      let name = element.name.map { SafeText.escape($0) + " " } ?? ""
      return name
        + (element.count.map { DecimalText.short(measure.value($0)) + (measure.unit.map { " \($0)" } ?? "") } ?? "-")
    }.joined(separator: ", ")
  }
}
