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

  /// The numbers as displayed. A mean of several readings is rounded to six digits; further digits are rounding errors.
  var shown: (mean: Double, least: Double, greatest: Double) {
    let (mean, least, greatest) = (mean.asShortDouble, least.asShortDouble, greatest.asShortDouble)
    guard least < greatest, mean != 0 else { return (mean, least, greatest) }
    let places = 5 - Decimal.exponent(abs(mean))
    guard (-30...30).contains(places) else { return (mean, least, greatest) }
    // Divide by a power of ten, so that only the last step rounds.
    let power = Decimal.power(abs(places))
    let shown = places < 0 ? (mean / power).rounded() * power : Decimal.rounded(mean * power) / power
    return (min(max(shown, least), greatest), least, greatest)
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
    // Printing and parsing takes ten times as long, so that is for what hardly occurs.
    Decimal.short(self) ?? Double("\(self)") ?? Double(self)
  }
}

/// Decimal numbers by arithmetic.
private enum Decimal {
  private static let powers: [Double] = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12]
  /// In this range, nine digits have at most 11 places, and a float times their power of ten is exact.
  private static let range: Range<Float> = 1e-3..<1e6

  /// The decimal with the fewest places that is read as this float, the nearest one of them. Nil for a very small or large number.
  static func short(_ float: Float) -> Double? {
    guard float == 0 || range.contains(abs(float)) else { return nil }
    let number = Double(float)
    // A decimal that is further away is another float.
    let distance = abs(number) * 0x1p-24
    for places in powers.indices {
      let scaled = number * powers[places]
      let whole = evenly(scaled)
      guard abs(whole - scaled) <= distance * powers[places] else { continue }
      // Of two equally near decimals with few places, the one further from zero is published; with more, the even one, as printing does.
      let short = (places <= 4 ? rounded(scaled) : whole) / powers[places]
      if Float(short) == float { return short }
    }
    return nil
  }

  /// The nearest whole number, of two the even one. Below 2^51, adding and subtracting a large number is the fastest way.
  private static func evenly(_ number: Double) -> Double { number + 0x1.8p52 - 0x1.8p52 }

  /// The nearest whole number, of two the one further from zero, below 2^51.
  static func rounded(_ number: Double) -> Double {
    let even = evenly(number)
    return abs(even - number) == 0.5 ? number.rounded() : even
  }

  /// The place of the first digit of a positive number: 2 for 123, -1 for 0.123.
  static func exponent(_ number: Double) -> Int {
    guard (1e-3..<1e12).contains(number) else { return Int(floor(log10(number))) }
    if number < 1 { return number < 0.01 ? -3 : number < 0.1 ? -2 : -1 }
    var exponent = 0
    while number >= powers[exponent + 1] { exponent += 1 }
    return exponent
  }

  /// A power of ten.
  static func power(_ places: Int) -> Double {
    powers.indices.contains(places) ? powers[places] : pow(10, Double(places))
  }
}
