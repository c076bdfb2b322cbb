// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput
import Console

/// The readings that `battery --watch` has shown, for a sparkline: the charge in percent, or the voltage of an accessory
/// that reports no charge.
final class SeenReadings: Sendable {
  /// The most cells of the sparkline.
  private static let cells = 24

  private struct State: Sendable {
    var percents: [Double?] = []
    var volts: [Double?] = []
  }

  private let state = Locked(State())

  /// Adds a reading. Returns the sparkline of the last ones; nil where there is nothing to compare yet.
  func add(_ reading: BatteryReading) -> String? {
    let (percents, volts) = state.withLock { state in
      state.percents = (state.percents + [reading.percent.map(Double.init)]).suffix(Self.cells)
      state.volts = (state.volts + [reading.millivolts.map { Double($0) / 1_000 }]).suffix(Self.cells)
      return (state.percents, state.volts)
    }
    let shown = percents.contains { $0 != nil } ? percents : volts
    guard shown.count(where: { $0 != nil }) > 1 else { return nil }
    return Sparkline.text(shown, cells: Self.cells)
  }
}
