// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// The age of a reading, for people.
package enum AgeView {
  /// "1.5 s", "3 min 20 s", "2 h 5 min, stale".
  package static func text(_ milliseconds: Int, isStale: Bool = false) -> String {
    let age =
      milliseconds < 60_000
      ? DecimalText.tenths(ofSeconds: milliseconds) + " s" : ProgressText.time(.seconds(milliseconds / 1_000))
    return isStale ? age + ", stale" : age
  }

  /// Whether to show the age to people. The age of a reading made just now isn't shown.
  package static func isWorthSaying(_ milliseconds: Int?) -> Bool { milliseconds.map { $0 >= 2_000 } ?? false }

  /// The age of a reading; nil where it isn't known.
  package static func text<Value>(_ read: Read<Value>) -> String? {
    read.age.map { text($0.inMilliseconds, isStale: read.isStale) }
  }

  /// A row for `Table.facts` on a stale reading; no row for a fresh one.
  package static func facts<Value>(_ read: Read<Value>) -> [(String, String)] {
    read.isStale ? [("Stale", read.age.map { "read \(text($0.inMilliseconds)) ago" } ?? "yes")] : []
  }
}
