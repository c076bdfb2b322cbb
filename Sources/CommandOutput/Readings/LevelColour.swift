// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

extension BatteryReading.Level {
  /// A battery's colour, used everywhere: green for a healthy one, yellow for what `top` marks as a warning, red for an alarm.
  package var colour: CellStyle.Colour {
    switch self {
    case .critical: .red
    case .low: .yellow
    case .normal, .high, .full: .green
    case .unknown: .plain
    }
  }
}

extension BatteryReading {
  /// The colour of its level, but red for a battery that is nearly empty, whatever level it reports.
  package var colour: CellStyle.Colour {
    percent.map { Level(percent: $0) == .critical } == true ? .red : level.colour
  }
}

extension Style {
  package func paint(_ text: String, _ colour: CellStyle.Colour) -> String {
    colour == .plain ? text : paint(text, "\(colour.rawValue)")
  }
}
