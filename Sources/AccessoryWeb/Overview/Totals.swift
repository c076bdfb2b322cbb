// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// The sums over all accessories: the power now, and the energy since midnight.
struct Totals: Sendable, Hashable {
  /// Watts into batteries and out of them, from the sun, and through meters; nil if none is known.
  private var charging, discharging, solar, metered: Double?
  /// Watt hours into batteries and out of them.
  private var today: Energy.Amount?

  init(_ rows: [TopRow], _ overviews: DayOverviews) {
    for row in rows {
      if let amount = overviews[row.key]?.today { today = (today ?? .init()) + amount }
      // What isn't known to be so now doesn't count.
      guard row.reach == .attached, !row.isStale else { continue }
      if let watts = row.battery?.powerInMilliwatts.map({ Double($0) / 1_000 }) {
        if watts >= 0 { charging = (charging ?? 0) + watts } else { discharging = (discharging ?? 0) - watts }
      }
      switch Picture(row) {
      case .solar: Self.add(row, to: &solar)
      case .meter: Self.add(row, to: &metered)
      default: break
      }
    }
    // Where batteries are known, both directions are.
    if charging != nil || discharging != nil { (charging, discharging) = (charging ?? 0, discharging ?? 0) }
  }

  private static func add(_ row: TopRow, to sum: inout Double?) {
    for part in row.headline.parts {
      guard case .value(let value) = part, value.quantity == .power, let number = value.number else { continue }
      let watts = value.unit == .kilowatt ? number * 1_000 : number
      // More than all power plants of the world together is no reading.
      if abs(watts) < greatest { sum = (sum ?? 0) + watts }
      return
    }
  }

  private static let greatest = 1e13

  private static func text(_ watts: Double) -> String {
    HeadlineView.power(Int(exactly: (watts * 1_000).rounded()) ?? 0)
  }

  /// The list of the sums; an empty element if nothing is known.
  var html: String {
    var facts: [(name: String, text: String)] = []
    if let solar { facts.append(("From the sun", Self.text(solar))) }
    if let charging { facts.append(("Into batteries", Self.text(charging))) }
    if let discharging { facts.append(("Out of batteries", Self.text(discharging))) }
    if let metered { facts.append(("Through meters", Self.text(metered))) }
    if let today {
      facts.append(("Into batteries today", EnergyTable.text(today.inWattHours)))
      facts.append(("Out of batteries today", EnergyTable.text(today.outWattHours)))
    }
    return "<div id=\"totals\">\(HTML.facts(facts, class: "totals"))</div>"
  }
}
