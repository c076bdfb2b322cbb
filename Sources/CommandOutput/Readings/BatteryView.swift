// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// A battery reading, as a line for people.
package enum BatteryView {
  /// "57 %  ███████████░░░░░░░░░  normal  3.712 V  discharging". Unknown parts are left out; the bar is shown on a
  /// terminal only.
  package static func line(_ reading: BatteryReading, _ style: Style = .standardOutput) -> String {
    var parts: [String] = []
    if let percent = reading.percent {
      parts.append(style.bold("\(percent) %"))
      if style.isTerminal { parts.append(style.paint(LevelBar.text(percent), reading.level.colour)) }
    }
    return (parts + words(reading, style)).joined(separator: "  ")
  }

  /// The level, the voltage, the current and what the battery is doing.
  static func words(_ reading: BatteryReading, _ style: Style) -> [String] {
    var parts = [
      style.paint(reading.level == .unknown ? "level unknown" : reading.level.rawValue, reading.level.colour)
    ]
    if let millivolts = reading.millivolts { parts.append(DecimalText.thousandths(millivolts) + " V") }
    if let milliamperes = reading.milliamperes { parts.append(DecimalText.thousandths(milliamperes) + " A") }
    if reading.charge != .unknown {
      parts.append(reading.charge == .notCharging ? "not charging" : reading.charge.rawValue)
    }
    return parts
  }
}
