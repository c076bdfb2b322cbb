// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What a reading is called in texts for people. Documents have the names of the fields.
package enum ReadingLabel {
  /// "Charge", "Time to empty".
  package static func text(_ field: BatteryReading.Field) -> String {
    switch field {
    case .percent: "Charge"
    case .level: "Level"
    case .voltage: "Voltage"
    case .current: "Current"
    case .charge: "Charging"
    case .timeToEmpty: "Time to empty"
    case .timeToFull: "Time to full"
    case .temperatures: "Temperature"
    case .cells: "Cells"
    case .remainingCapacity: "Remaining capacity"
    case .fullCapacity: "Full capacity"
    case .cycles: "Cycles"
    case .health: "Health"
    case .faults: "Faults"
    case .warnings: "Warnings"
    }
  }

  /// The label of a series of readings: of a battery's from the table above, of an accessory's values by their names, as in
  /// "Input voltage" for `input_voltage`. The accessory's words are escaped.
  package static func text(series name: String) -> String {
    switch name {
    case ReadingSeries.percent: text(.percent)
    case ReadingSeries.voltage: text(.voltage)
    case ReadingSeries.current: text(.current)
    case ReadingSeries.temperature: text(.temperatures)
    default: SafeText.escape(NameWords.title(name))
    }
  }
}
