// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The time of day.
package enum WallClock {
  /// Seconds since 1970, UTC, in thousandths.
  package static var seconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec / 1_000_000) / 1_000
  }

  /// "14:03:59" where we are.
  package static var timeOfDay: String {
    var now = time(nil)
    var parts = tm()
    localtime_r(&now, &parts)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { ($0 < 10 ? "0" : "") + String($0) }.joined(separator: ":")
  }
}
