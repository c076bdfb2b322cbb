// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import Console

/// A battery for people.
enum BatteryView {
  /// "57 %  ███████████░░░░░░░░░  normal  3.712 V  discharging", without what isn't known.
  static func line(_ reading: BatteryReading) -> String {
    let style = Style.standardOutput
    var parts: [String] = []
    if let percent = reading.percent {
      parts.append(style.bold("\(percent) %"))
      if style.isTerminal { parts.append(paint(LevelBar.text(percent), reading.level)) }
    }
    parts.append(paint(reading.level == .unknown ? "level unknown" : reading.level.rawValue, reading.level))
    if let millivolts = reading.millivolts { parts.append(DecimalText.thousandths(millivolts) + " V") }
    if let milliamperes = reading.milliamperes { parts.append(DecimalText.thousandths(milliamperes) + " A") }
    if reading.charge != .unknown {
      parts.append(reading.charge == .notCharging ? "not charging" : reading.charge.rawValue)
    }
    return parts.joined(separator: "  ")
  }

  private static func paint(_ text: String, _ level: BatteryReading.Level) -> String {
    switch level {
    case .critical, .low: Style.standardOutput.red(text)
    case .normal: Style.standardOutput.yellow(text)
    case .high, .full: Style.standardOutput.green(text)
    case .unknown: text
    }
  }
}
