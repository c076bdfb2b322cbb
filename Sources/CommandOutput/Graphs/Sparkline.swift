// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Draws a series as one line of small bars: "▁▂▃▅▇". A cell without readings is blank.
package enum Sparkline {
  private static let blocks = Array("▁▂▃▄▅▆▇█")
  private static let signs = Array("_.-~=+*#")

  /// One bar for each of the last `cells` values; a nil value is a blank. The bars are scaled to `range`, or else to the values' own
  /// range. Equal values get bars of half the height.
  package static func text(
    _ values: [Double?], cells: Int, range: ClosedRange<Double>? = nil, form: GraphForm = .ofLocale()
  ) -> String {
    let values = values.suffix(max(0, cells))
    let known = values.compactMap { $0 }.filter(\.isFinite)
    guard let least = known.min(), let greatest = known.max() else {
      return String(repeating: " ", count: values.count)
    }
    let (low, high) = (range?.lowerBound ?? least, range?.upperBound ?? greatest)
    let bars = form == .unicode ? blocks : signs
    return String(
      values.map { value in
        guard let value, value.isFinite else { return " " }
        let part = high > low && (high - low).isFinite ? min(max((value - low) / (high - low), 0), 1) : 0.5
        return bars[min(max(Int((part * Double(bars.count - 1)).rounded()), 0), bars.count - 1)]
      })
  }

  /// The means of a series in `cells` equal parts of `time` (seconds since 1970).
  package static func text(
    _ series: ReadingSeries, cells: Int, time: ClosedRange<Double>, range: ClosedRange<Double>? = nil,
    form: GraphForm = .ofLocale()
  ) -> String {
    text(
      GraphColumns.of(series, count: cells, time: time).map { $0?.mean }, cells: cells, range: range, form: form)
  }
}
