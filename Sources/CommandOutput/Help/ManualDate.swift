// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The date of the manual's pages.
package enum ManualDate {
  /// Today's date, like "November 22, 2026", or the one in SOURCE_DATE_EPOCH, for reproducible builds.
  package static var text: String {
    let wanted = getenv("SOURCE_DATE_EPOCH").flatMap { Int(String(cString: $0)) }
    var (seconds, parts) = (wanted ?? time(nil), tm())
    gmtime_r(&seconds, &parts)
    let months = [
      "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
      "December",
    ]
    return "\(months[Int(parts.tm_mon)]) \(parts.tm_mday), \(1_900 + Int(parts.tm_year))"
  }
}
