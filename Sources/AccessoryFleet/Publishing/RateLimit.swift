// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A rate limit: a number of calls at once, then a number per second.
struct RateLimit: Sendable {
  private let atOnce: Double
  private let perSecond: Double
  private var tokens: Double
  private var last: MonotonicTime?

  /// Admits at most `atOnce` together, and `perSecond` on average.
  init(atOnce: Int, perSecond: Double) {
    (self.atOnce, self.perSecond, tokens) = (Double(atOnce), perSecond, Double(atOnce))
  }

  /// Whether one more is admitted now.
  mutating func admit(now: MonotonicTime) -> Bool {
    if let last { tokens = min(atOnce, tokens + (now - last) / .seconds(1) * perSecond) }
    last = now
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }
}
