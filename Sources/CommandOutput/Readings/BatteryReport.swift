// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// A battery reading for people: a line with a bar, and a row for each other known value.
package enum BatteryReport {
  /// Prints a reading. `supply` is what a UPS says of its supply and its load, which comes first; `time` comes before the line and `graph` after
  /// it; `facts` are additional rows.
  package static func show(
    _ read: Read<BatteryReading>, supply: ReadValues? = nil, time: String? = nil, graph: String? = nil,
    facts: [(String, String)] = []
  ) {
    let parts = [time, BatteryView.line(read.value), graph].compactMap { $0 }
    Output.wrapped(parts.joined(separator: "  "), indent: 2)
    let rows =
      HeadlineView.facts(Headline(values: supply?.map(\.value) ?? [])).map { ($0.name, $0.text) }
      + BatteryDetails.facts(read.value, columns: Output.columns) + facts + AgeView.facts(read)
      + AlarmView.facts(read.alarms)
    Table.facts(rows, columns: Output.columns).forEach(Output.line)
  }
}
