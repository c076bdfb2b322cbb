// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// A headline for people.
package enum HeadlineView {
  /// The parts as rows with a label. Texts from the accessory are escaped.
  package static func facts(
    _ headline: Headline, where isShown: (Headline.Part) -> Bool = { _ in true }
  ) -> [(name: String, text: String)] {
    headline.parts.filter(isShown).compactMap { part in
      let text: String? =
        switch part {
        case .state(let state): state.word
        case .value(let value): supply(value) ?? TopRow.text(value)
        case .battery(let field): headline.battery.flatMap { ReadingText.text(field.term, of: $0) }
        case .power(let milliwatts): power(milliwatts)
        case .spread(let millivolts): "\(millivolts) mV"
        }
      return text.map { (SafeText.escape(part.label), $0) }
    }
  }

  /// The same as short texts, where little room is. The battery's charge and voltage have columns of their own there.
  package static func words(_ headline: Headline) -> [String] {
    headline.parts.compactMap { part in
      switch part {
      case .state, .battery(.percent), .battery(.level), .battery(.voltage), .battery(.charge): return nil
      case .value(let value):
        return supply(value) ?? TopRow.text(value).map { "\(SafeText.escape(value.name, limit: 24)) \($0)" }
      case .battery(let field):
        let text = headline.battery.flatMap { ReadingText.text(field.term, of: $0) }
        return text.map { field == .timeToEmpty ? $0 + " left" : "full in " + $0 }
      case .power(let milliwatts): return power(milliwatts)
      case .spread(let millivolts): return "\(millivolts) mV apart"
      }
    }
  }

  /// "-736 W": below 100 W with one decimal, and above 10 kW in kilowatts.
  package static func power(_ milliwatts: Int) -> String {
    let watts = Double(milliwatts) / 1_000
    if abs(watts) >= 9_999.5 { return DecimalText.short((watts / 100).rounded() / 10) + " kW" }
    let rounded = abs(watts) < 100 ? (watts * 10).rounded() / 10 : watts.rounded()
    return DecimalText.short(rounded == 0 ? 0 : rounded) + " W"
  }

  /// What a UPS runs its load from; nil for any other value.
  private static func supply(_ value: AccessoryValue) -> String? {
    guard value.isSupply, case .flag(let isOnBattery) = value.content else { return nil }
    return isOnBattery ? "on battery" : "on line"
  }
}
