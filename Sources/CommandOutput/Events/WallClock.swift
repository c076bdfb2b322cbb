// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The system's wall clock.
package enum WallClock {
  /// Seconds since 1970, UTC, to the millisecond.
  package static var seconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec / 1_000_000) / 1_000
  }

  /// The local time of day, like "14:03:59".
  package static var timeOfDay: String {
    var now = time(nil)
    var parts = tm()
    localtime_r(&now, &parts)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { ($0 < 10 ? "0" : "") + String($0) }.joined(separator: ":")
  }
}
