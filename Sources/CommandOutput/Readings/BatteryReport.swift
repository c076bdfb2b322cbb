// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// A battery reading for people: a line with a bar, and a row for each other thing that is known.
package enum BatteryReport {
  /// Prints a reading. `time` is in front of the line, and `graph` behind it; `facts` are more rows. `age` is in
  /// milliseconds; nil for a reading of now.
  package static func show(
    _ reading: BatteryReading, age: Int?, isStale: Bool, alarms: [AccessoryAlarm]?, time: String? = nil,
    graph: String? = nil, facts: [(String, String)] = []
  ) {
    let parts = [time, BatteryView.line(reading), graph].compactMap { $0 }
    Output.wrapped(parts.joined(separator: "  "), indent: 2)
    let rows =
      BatteryDetails.facts(reading, columns: Output.columns) + facts + AgeView.facts(age, isStale: isStale)
      + AlarmView.facts(alarms)
    Table.facts(rows, columns: Output.columns).forEach(Output.line)
  }
}
