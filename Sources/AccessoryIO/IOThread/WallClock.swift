// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The system's wall clock. It can be set.
package enum WallClock {
  /// Milliseconds since 1970, UTC.
  package static var milliseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Seconds since 1970, UTC, to the millisecond.
  package static var seconds: Double { Double(milliseconds) / 1_000 }
}
