// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import TestSupport

extension ManualClock {
  /// Moves from timer to timer, as long as the next one is due within `step`, until `condition` holds.
  ///
  /// Terminals are real, and their answers take a while. So the clock moves only when the timers have been the same for a while:
  /// otherwise it would be past a request's time limit while the answer is on its way.
  func pass(_ what: String, step: Duration, until condition: () async throws -> Bool) async throws {
    var (seen, since) = (scheduledCount, ContinuousClock.now)
    try await eventually(what) {
      if try await condition() { return true }
      if scheduledCount != seen { (seen, since) = (scheduledCount, .now) }
      guard since.duration(to: .now) >= .milliseconds(50).patient, let next = nextDeadline, next <= now + step else {
        return false
      }
      advanceToNext()
      since = .now
      return false
    }
  }
}
