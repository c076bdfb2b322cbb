// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

extension MonotonicTime {
  /// The current time on `CLOCK_MONOTONIC`.
  public static var now: MonotonicTime { read(CLOCK_MONOTONIC) }

  /// The current time on `CLOCK_BOOTTIME`, which continues while the machine sleeps.
  static var boot: MonotonicTime { read(CLOCK_BOOTTIME) }

  private static func read(_ clock: clockid_t) -> MonotonicTime {
    var time = timespec()
    clock_gettime(clock, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
