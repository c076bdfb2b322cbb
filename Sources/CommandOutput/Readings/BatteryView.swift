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
      if style.isTerminal { parts.append(style.paint(LevelBar.text(percent), reading.colour)) }
    }
    parts += words(reading, style)
    return parts.isEmpty ? "charge not known" : parts.joined(separator: "  ")
  }

  /// The parts after the percentage (which has a bar) and the level (which is coloured).
  private static let others = Vocabulary.shown.filter { $0.isInLine && !["percent", "level"].contains($0.key) }

  /// The level, the voltage, the current and the charging state.
  static func words(_ reading: BatteryReading, _ style: Style) -> [String] {
    let level = reading.level == .unknown ? [] : [style.paint(reading.level.rawValue, reading.colour)]
    return level + others.compactMap { ReadingText.text($0, of: reading) }
  }
}
