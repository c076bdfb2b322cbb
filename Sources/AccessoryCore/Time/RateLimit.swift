// SPDX-License-Identifier: Apache-2.0

/// A rate limit: a number of calls at once, then a number per second. It has no clock: its owner passes the time, of any one clock.
package struct RateLimit: Sendable, Hashable {
  private let atOnce, perSecond: Double
  /// How many calls are admitted at `time`, in seconds; a call takes one.
  package private(set) var tokens: Double
  /// When `tokens` was true; nil before the first call.
  package private(set) var time: Double?

  /// Admits at most `atOnce` together, and `perSecond` on average.
  package init(atOnce: Int, perSecond: Double) { self.init(atOnce: atOnce, perSecond: perSecond, Double(atOnce), nil) }

  /// A limit as it was left at `time`.
  package init(atOnce: Int, perSecond: Double, _ tokens: Double, _ time: Double?) {
    (self.atOnce, self.perSecond, self.tokens, self.time) = (Double(atOnce), perSecond, tokens, time)
  }

  /// How many calls are admitted at `now`. A clock that was set back adds none.
  package func tokens(at now: Double) -> Double {
    time.map { min(atOnce, tokens + max(0, now - $0) * perSecond) } ?? tokens
  }

  /// When the next call is admitted: now, or later.
  package func next(after now: Double) -> Double { now + max(0, 1 - tokens(at: now)) / perSecond }

  /// Whether one more is admitted now; it is counted.
  package mutating func admit(at now: Double) -> Bool {
    (tokens, time) = (tokens(at: now), now)
    // Time isn't exact: at `next` there may be a little less than one.
    guard tokens >= 1 - 1e-6 else { return false }
    tokens = max(0, tokens - 1)
    return true
  }

  /// Whether one more is admitted now; it is counted.
  package mutating func admit(now: MonotonicTime) -> Bool { admit(at: Double(now.nanoseconds) / 1e9) }

  /// When the next one is admitted: now, or later.
  package func next(after now: MonotonicTime) -> MonotonicTime {
    let seconds = Double(now.nanoseconds) / 1e9
    return now + .nanoseconds(Int64(((next(after: seconds) - seconds) * 1e9).rounded(.up)))
  }
}
