// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The age of a reading in `top`: at most four columns. The older the reading, the less often the text changes.
package enum AgeText {
  /// "now", "20s", "5m", "13h", "3d".
  package static func text(_ age: Duration) -> String {
    let seconds = max(0, age.components.seconds)
    switch seconds {
    case ..<10: return "now"
    case ..<60: return "\(seconds / 10 * 10)s"
    case ..<3_600: return "\(seconds / 60)m"
    case ..<172_800: return "\(seconds / 3_600)h"
    case ..<86_400_000: return "\(seconds / 86_400)d"
    default: return "old"
    }
  }

  /// How long the text for this age stays the same; nil for ever.
  package static func untilChange(_ age: Duration) -> Duration? {
    let age = max(.zero, age)
    let seconds = age.components.seconds
    let step: Int64
    switch seconds {
    case ..<60: step = 10
    case ..<3_600: step = 60
    case ..<172_800: step = 3_600
    case ..<86_400_000: step = 86_400
    default: return nil
    }
    return .seconds((seconds / step + 1) * step) - age
  }

  /// When to redraw the screen because the text of an age changes; nil for never. Changes wait for the next multiple of five seconds
  /// (thirty if no age is below a minute), so many ages cause few wake-ups.
  package static func nextDrawing(_ ages: [Duration], now: MonotonicTime) -> MonotonicTime? {
    guard let soonest = ages.compactMap(untilChange).min() else { return nil }
    let grid: Int64 = (ages.contains { $0 < .seconds(60) } ? 5 : 30) * 1_000_000_000
    let due = (now + soonest).nanoseconds
    let (rounded, isLate) = (due / grid * grid).addingReportingOverflow(due % grid > 0 ? grid : 0)
    return MonotonicTime(nanoseconds: isLate ? due : rounded)
  }
}
