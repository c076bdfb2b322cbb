// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// The energy into and out of a battery by days, in local time.
package struct EnergyTable: Sendable, Hashable {
  /// A day, or all of them.
  struct Row: Sendable, Hashable {
    /// "2026-11-27"; empty for the total.
    var day: String
    /// In watt hours, with at most two decimal places.
    var inWattHours, outWattHours: Double
    /// The hours of the day (as far as it was asked for) of which the power is unknown, in tenths.
    var missingHours: Double

    init(_ day: String, _ amount: Energy.Amount, of seconds: Double) {
      self.day = day
      inWattHours = (amount.inWattHours * 100).rounded() / 100
      outWattHours = (amount.outWattHours * 100).rounded() / 100
      missingHours = max(0, ((seconds - amount.seconds) / 360).rounded() / 10)
    }
  }

  let days: [Row]
  let total: Row

  /// More days than these are shown by months.
  private static let dayLimit = 62

  /// The energy in `time`, which is in seconds since 1970. `day` returns the day of a time; it is local by default.
  package init(_ energy: Energy, time: ClosedRange<Double>, day: (Double) -> String = { LocalTime.day($0) }) {
    // Hours that have begun count from their beginning.
    let first = (time.lowerBound / Energy.secondsOfHour).rounded(.down) * Energy.secondsOfHour
    var seconds: [String: Double] = [:]
    var hour = first
    while hour < time.upperBound, seconds.count < 1_000 {
      seconds[day(hour + Energy.secondsOfHour / 2), default: 0] += min(Energy.secondsOfHour, time.upperBound - hour)
      hour += Energy.secondsOfHour
    }
    let amounts = energy.amounts(by: day)
    days = seconds.sorted { $0.key < $1.key }.map { Row($0.key, amounts[$0.key] ?? .init(), of: $0.value) }
    let whole = amounts.filter { seconds[$0.key] != nil }.values.reduce(.init(), +)
    total = Row("", whole, of: seconds.values.reduce(0, +))
  }

  /// The table for a terminal: a line for each day, or for each month if there are many days, and the total.
  package static func lines(_ energy: Energy, time: ClosedRange<Double>, style: Style = .standardOutput) -> [String] {
    let byDay = EnergyTable(energy, time: time)
    let isLong = byDay.days.count > dayLimit
    let table = isLong ? EnergyTable(energy, time: time) { String(LocalTime.day($0).prefix(7)) } : byDay
    var shown = Table([isLong ? "MONTH" : "DAY", "ENERGY IN", "ENERGY OUT", "WITHOUT DATA"])
    for row in table.days + (table.days.count > 1 ? [table.total] : []) {
      shown.add([
        row.day.isEmpty ? "together" : row.day, text(row.inWattHours), text(row.outWattHours),
        row.missingHours > 0 ? "\(DecimalText.short(row.missingHours)) h" : "-",
      ])
    }
    return shown.lines(style)
  }

  /// "830 Wh", "1.24 kWh".
  package static func text(_ wattHours: Double) -> String {
    guard wattHours >= 1_000 else { return "\(DecimalText.short((wattHours * 10).rounded() / 10)) Wh" }
    return "\(DecimalText.short((wattHours / 10).rounded() / 100)) kWh"
  }
}
