// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers

/// A battery for people.
enum BatteryView {
  private static let barWidth = 20

  /// "57 %  ███████████░░░░░░░░░  normal  3.712 V  discharging", without what isn't known.
  static func line(_ reading: BatteryReading) -> String {
    let style = Style.standardOutput
    var parts: [String] = []
    if let percent = reading.percent {
      parts.append(style.bold("\(percent) %"))
      if style.isTerminal { parts.append(paint(bar(percent), reading.level)) }
    }
    parts.append(paint(reading.level == .unknown ? "level unknown" : reading.level.rawValue, reading.level))
    if let millivolts = reading.millivolts { parts.append(decimal(millivolts) + " V") }
    if let milliamperes = reading.milliamperes { parts.append(decimal(milliamperes) + " A") }
    if reading.charge != .unknown {
      parts.append(reading.charge == .notCharging ? "not charging" : reading.charge.rawValue)
    }
    return parts.joined(separator: "  ")
  }

  private static func bar(_ percent: UInt8) -> String {
    let filled = (Int(percent) * barWidth + 50) / 100
    return String(repeating: "█", count: filled) + String(repeating: "░", count: barWidth - filled)
  }

  private static func paint(_ text: String, _ level: BatteryReading.Level) -> String {
    switch level {
    case .critical, .low: Style.standardOutput.red(text)
    case .normal: Style.standardOutput.yellow(text)
    case .high, .full: Style.standardOutput.green(text)
    case .unknown: text
    }
  }

  /// Thousandths as a decimal number with three digits.
  static func decimal(_ thousandths: Int) -> String {
    let digits = String(thousandths.magnitude % 1_000)
    return (thousandths < 0 ? "-" : "") + "\(thousandths.magnitude / 1_000)."
      + String(repeating: "0", count: 3 - digits.count) + digits
  }
}
