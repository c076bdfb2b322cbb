// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc

/// The system's wall clock.
package typealias WallClock = AccessoryIO.WallClock

extension WallClock {
  /// The local time of day, like "14:03:59".
  package static var timeOfDay: String {
    var now = time(nil)
    var parts = tm()
    localtime_r(&now, &parts)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { ($0 < 10 ? "0" : "") + String($0) }.joined(separator: ":")
  }
}
