// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// The characters and colours of `top`: blocks and arrows in a UTF-8 locale, ASCII otherwise.
package struct TopGlyphs: Sendable, Hashable {
  /// Whether only ASCII characters are drawn.
  package let isASCII: Bool

  /// The characters for a locale.
  package init(isASCII: Bool) { self.isASCII = isASCII }

  // MARK: - Batteries

  private static let eighths: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]

  /// A bar of this width, completely filled at `share` 1: "████▌░░░░░", or "####......".
  package func bar(_ share: Double, width: Int) -> String {
    let width = max(0, width)
    let eighths = Int((min(max(0, share.isNaN ? 0 : share), 1) * Double(width) * 8).rounded())
    if isASCII {
      let filled = min(width, (eighths + 4) / 8)
      return String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    }
    var bar = String(repeating: "█", count: eighths / 8)
    if eighths % 8 > 0 { bar.append(Self.eighths[eighths % 8 - 1]) }
    return bar + String(repeating: "░", count: width - (eighths + 7) / 8)
  }

  /// The charging state as one character: up for charging, down for discharging, full, not charging.
  package func arrow(_ charge: BatteryReading.Charge) -> String {
    switch charge {
    case .charging: isASCII ? "^" : "↑"
    case .discharging: isASCII ? "v" : "↓"
    case .full: "="
    case .notCharging: "-"
    case .unknown: " "
    }
  }

  /// The colour of an arrow.
  package func style(_ charge: BatteryReading.Charge) -> CellStyle {
    switch charge {
    case .charging, .full: CellStyle(.green)
    case .discharging, .notCharging, .unknown: .plain
    }
  }

  /// The colour of a battery's bar.
  package func style(_ battery: BatteryReading) -> CellStyle { CellStyle(battery.colour) }

  // MARK: - Alarms

  /// The mark of an alarm, of a warning, of an accessory that can't be reached, of a stale reading.
  package func mark(_ row: TopRow) -> StyledText {
    switch row.severity {
    case .alarm: StyledText("!!", CellStyle(.red, bold: true))
    case .warning: StyledText("! ", CellStyle(.yellow, bold: true))
    case .none:
      switch row.reach {
      case .away: StyledText("- ", .dim)
      case .trying: StyledText("+ ", .dim)
      case .attached: row.isStale ? StyledText("? ", .dim) : "  "
      }
    }
  }

  /// The colour of a text of this severity.
  package func style(_ severity: TopRow.Severity) -> CellStyle {
    switch severity {
    case .alarm: CellStyle(.red)
    case .warning: CellStyle(.yellow)
    case .none: .plain
    }
  }

  /// The arrow in the header of the column by which the list is sorted.
  func sortMark(isInverted: Bool) -> String { isASCII ? (isInverted ? "v" : "^") : isInverted ? "▼" : "▲" }
}
