// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Console

/// An accessory's values, for people.
package enum MeasurementView {
  /// A table of values. It has columns for age and origin only if a value has one. `columns` is the terminal's width; nil without a
  /// terminal.
  package static func table(
    _ values: [Read<AccessoryValue>], _ style: Style = .standardOutput, columns: Int? = nil
  ) -> [String] {
    let (hasAges, hasDerived) = (values.contains { $0.age != nil }, values.contains { $0.value.isDerived })
    var table = Table(
      ["name", "value", "unit"] + (hasAges ? ["age"] : []) + (hasDerived ? ["origin"] : []),
      optional: (hasDerived ? [hasAges ? 4 : 3] : []) + (hasAges ? [3] : []))
    for read in values {
      let value = read.value
      table.add(
        [name(value.name), text(value), unit(value)] + (hasAges ? [AgeView.text(read) ?? ""] : [])
          + (hasDerived ? [value.isDerived ? "derived" : ""] : []))
    }
    return table.lines(style, columns: columns)
  }

  /// "port_4  50 cm"; the name is padded to `width` columns.
  package static func line(_ value: AccessoryValue, width: Int) -> String {
    let name = name(value.name)
    let unit = unit(value)
    return name + String(repeating: " ", count: max(0, width - TextWidth.of(name))) + "  " + text(value)
      + (unit.isEmpty || value.content == nil ? "" : " \(unit)")
  }

  /// The value alone, for scripts; empty if it isn't known.
  package static func plain(_ value: AccessoryValue) -> String { value.content == nil ? "" : text(value) }

  /// A value's name, escaped.
  package static func name(_ name: String) -> String { SafeText.escape(name) }

  private static func unit(_ value: AccessoryValue) -> String {
    value.unit.map { SafeText.escape($0.rawValue, limit: 16) } ?? ""
  }

  private static func text(_ value: AccessoryValue) -> String {
    switch value.content {
    case .number(let number): DecimalText.short(number)
    case .text(let text), .choice(let text, _): SafeText.escape(text, limit: ReadingLimits.textBytes)
    case .flag(let flag): flag ? "yes" : "no"
    case nil: "-"
    }
  }
}
