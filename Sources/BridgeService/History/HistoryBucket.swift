// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Summarizes the readings of one interval. Its numbers are 32-bit floats with 24 significant bits, which is more precise than any
/// accessory.
struct HistoryBucket: Sendable, Hashable {
  /// The number of the interval: the time on the history's timeline in seconds, divided by the interval's length.
  var slot: UInt32
  /// The number of readings. It stays at its maximum instead of overflowing.
  var count: UInt16
  /// Whether readings were missing for a long time before this bucket. A graph has a gap there.
  var hasGapBefore: Bool
  var mean, least, greatest: Float

  /// The bucket of one reading.
  init(slot: UInt32, _ value: Double, hasGapBefore: Bool = false) {
    let value = Self.number(value)
    (self.slot, count, self.hasGapBefore) = (slot, 1, hasGapBefore)
    (mean, least, greatest) = (value, value, value)
  }

  /// Creates a bucket from a file's values; nil if they can't be valid.
  init?(slot: UInt32, count: UInt16, hasGapBefore: Bool, mean: Float, least: Float, greatest: Float) {
    guard count > 0, least.isFinite, greatest.isFinite, mean >= least, mean <= greatest else { return nil }
    (self.slot, self.count, self.hasGapBefore) = (slot, count, hasGapBefore)
    (self.mean, self.least, self.greatest) = (mean, least, greatest)
  }

  /// Adds a reading from the same interval.
  mutating func add(_ value: Double) {
    let number = Self.number(value)
    if count < .max { count += 1 }
    (least, greatest) = (min(least, number), max(greatest, number))
    let mean = Double(mean) + (Double(number) - Double(mean)) / Double(count)
    self.mean = min(max(Float(mean), least), greatest)
  }

  /// The mean as displayed. A mean of several readings is rounded to six digits; further digits are rounding errors.
  var shownMean: Double {
    let (mean, least, greatest) = (mean.asShortDouble, least.asShortDouble, greatest.asShortDouble)
    guard least < greatest, mean != 0 else { return mean }
    let places = 5 - Int(floor(log10(abs(mean))))
    guard (-30...30).contains(places) else { return mean }
    // Divide by a power of ten, so that only the last step rounds.
    let power = pow(10, Double(abs(places)))
    let shown = places < 0 ? (mean / power).rounded() * power : (mean * power).rounded() / power
    return min(max(shown, least), greatest)
  }

  /// The nearest 32-bit float, never infinite.
  private static func number(_ value: Double) -> Float {
    let limit = Double(Float.greatestFiniteMagnitude)
    return Float(min(max(value, -limit), limit))
  }
}

extension Float {
  /// The number with only the necessary digits: 3.7 instead of 3.7000000476837.
  var asShortDouble: Double {
    let number = Double(self)
    // Most readings have a few decimal places; printing and parsing takes ten times as long.
    if abs(number) < 1e6 {
      for power in Self.powers {
        let short = (number * power).rounded() / power
        if Float(short) == self { return short }
      }
    }
    return Double("\(self)") ?? number
  }

  private static let powers: [Double] = [1, 10, 100, 1_000, 10_000]
}
