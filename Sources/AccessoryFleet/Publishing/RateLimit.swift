// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// How many commands are let through: some at once, then so many a second.
struct RateLimit: Sendable {
  private let atOnce: Double
  private let perSecond: Double
  private var tokens: Double
  private var last: MonotonicTime?

  /// At most `atOnce` together, and `perSecond` in the long run.
  init(atOnce: Int, perSecond: Double) {
    (self.atOnce, self.perSecond, tokens) = (Double(atOnce), perSecond, Double(atOnce))
  }

  /// Whether one more may pass now.
  mutating func admit(now: MonotonicTime) -> Bool {
    if let last { tokens = min(atOnce, tokens + (now - last) / .seconds(1) * perSecond) }
    last = now
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }
}
