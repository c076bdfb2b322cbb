// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What was read in one span of time. The numbers have 24 bits, which is more than what accessories measure.
struct HistoryBucket: Sendable, Hashable {
  /// The number of the span: seconds of the history's time line, divided by the span's length.
  var slot: UInt32
  /// How many readings there were; stays at its greatest.
  var count: UInt16
  /// Whether nothing was read for long before this span, so that a graph has a gap there.
  var hasGapBefore: Bool
  var mean, least, greatest: Float

  /// The bucket of one reading.
  init(slot: UInt32, _ value: Double, hasGapBefore: Bool = false) {
    let value = Self.number(value)
    (self.slot, count, self.hasGapBefore) = (slot, 1, hasGapBefore)
    (mean, least, greatest) = (value, value, value)
  }

  /// A bucket of these parts, as a file has them; nil when they can't be right.
  init?(slot: UInt32, count: UInt16, hasGapBefore: Bool, mean: Float, least: Float, greatest: Float) {
    guard count > 0, least.isFinite, greatest.isFinite, mean >= least, mean <= greatest else { return nil }
    (self.slot, self.count, self.hasGapBefore) = (slot, count, hasGapBefore)
    (self.mean, self.least, self.greatest) = (mean, least, greatest)
  }

  /// Adds a reading of the same span.
  mutating func add(_ value: Double) {
    let number = Self.number(value)
    if count < .max { count += 1 }
    (least, greatest) = (min(least, number), max(greatest, number))
    let mean = Double(mean) + (Double(number) - Double(mean)) / Double(count)
    self.mean = min(max(Float(mean), least), greatest)
  }

  /// The mean as it is shown: that of several readings with six digits, since the rest is error.
  var shownMean: Double {
    let (mean, least, greatest) = (mean.asShortDouble, least.asShortDouble, greatest.asShortDouble)
    guard least < greatest, mean != 0 else { return mean }
    let places = 5 - Int(floor(log10(abs(mean))))
    guard (-30...30).contains(places) else { return mean }
    // Divided by a power of ten, so that only the last step rounds.
    let power = pow(10, Double(abs(places)))
    let shown = places < 0 ? (mean / power).rounded() * power : (mean * power).rounded() / power
    return min(max(shown, least), greatest)
  }

  /// The nearest number with 24 bits, never infinite.
  private static func number(_ value: Double) -> Float {
    let limit = Double(Float.greatestFiniteMagnitude)
    return Float(min(max(value, -limit), limit))
  }
}

extension Float {
  /// The number with as many digits as this one needs: 3.7 and not 3.7000000476837.
  var asShortDouble: Double { Double("\(self)") ?? Double(self) }
}
