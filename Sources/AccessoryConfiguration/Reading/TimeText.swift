// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Times in profiles: a number with its unit, such as "500ms", "2s", "1.5s", "10m" or "1h".
package enum TimeText {
  private static let units: [(suffix: String, microseconds: Int64)] = [
    ("us", 1), ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000), ("h", 3_600_000_000),
  ]

  /// The longest time: a thousand hours, in microseconds.
  private static let longest: Int64 = 3_600_000_000_000

  /// Parses a time of at most a thousand hours, in whole microseconds; nil when the text isn't one.
  package static func read(_ text: String) -> Duration? {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let unit = units.first(where: { $0.suffix == text.dropFirst(number.count) }) else { return nil }
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    // Because of this limit the calculations below can't overflow.
    guard (1...2).contains(parts.count), let whole = Int64(parts[0]), whole <= longest / unit.microseconds else {
      return nil
    }
    var microseconds = whole * unit.microseconds
    if parts.count == 2 {
      guard (1...6).contains(parts[1].count), let fraction = Int64(parts[1]) else { return nil }
      var divisor: Int64 = 1
      for _ in parts[1] { divisor *= 10 }
      // Fractions of a microsecond are an error: they aren't rounded.
      guard (fraction * unit.microseconds).isMultiple(of: divisor) else { return nil }
      microseconds += fraction * unit.microseconds / divisor
    }
    return microseconds <= longest ? .microseconds(microseconds) : nil
  }

  /// Writes a time in the largest unit in which it is a whole number.
  package static func text(_ time: Duration) -> String {
    let microseconds = time.inNanoseconds / 1_000
    guard microseconds != 0 else { return "0s" }
    let unit = units.last { microseconds.isMultiple(of: $0.microseconds) } ?? units[0]
    return "\(microseconds / unit.microseconds)\(unit.suffix)"
  }
}
