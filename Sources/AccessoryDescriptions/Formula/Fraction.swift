// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// A number as a fraction, so that 0.01 is exact.
  public struct Fraction: Sendable, Hashable {
    /// The numerator.
    public var numerator: Int
    /// The denominator; above 0.
    public var denominator: Int
    /// A fraction. `denominator` must be above 0.
    public init(_ numerator: Int, over denominator: Int = 1) {
      (self.numerator, self.denominator) = (numerator, denominator)
    }
    /// The nearest `Double`.
    public var value: Double { Double(numerator) / Double(denominator) }
  }
}

// Arithmetic, in lowest terms. Nil where a number overflows or is divided by 0.
extension ProtocolDescription.Fraction {
  static let zero = Self(0)
  static let one = Self(1)

  /// The fraction in lowest terms, with a denominator above 0.
  static func reduced(_ numerator: Int, over denominator: Int) -> Self? {
    guard denominator != 0, numerator != .min, denominator != .min else { return nil }
    var (divisor, rest) = (numerator.magnitude, denominator.magnitude)
    while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
    let common = Int(divisor) * (denominator < 0 ? -1 : 1)
    return Self(numerator / common, over: denominator / common)
  }

  static func + (left: Self, right: Self) -> Self? {
    let (first, isFirstTooLarge) = left.numerator.multipliedReportingOverflow(by: right.denominator)
    let (second, isSecondTooLarge) = right.numerator.multipliedReportingOverflow(by: left.denominator)
    let (sum, isSumTooLarge) = first.addingReportingOverflow(second)
    let (denominator, overflows) = left.denominator.multipliedReportingOverflow(by: right.denominator)
    guard !isFirstTooLarge, !isSecondTooLarge, !isSumTooLarge, !overflows else { return nil }
    return reduced(sum, over: denominator)
  }

  static func - (left: Self, right: Self) -> Self? { right.negated.flatMap { left + $0 } }

  static func * (left: Self, right: Self) -> Self? {
    let (numerator, isTooLarge) = left.numerator.multipliedReportingOverflow(by: right.numerator)
    let (denominator, overflows) = left.denominator.multipliedReportingOverflow(by: right.denominator)
    return isTooLarge || overflows ? nil : reduced(numerator, over: denominator)
  }

  static func / (left: Self, right: Self) -> Self? {
    let (numerator, isTooLarge) = left.numerator.multipliedReportingOverflow(by: right.denominator)
    let (denominator, overflows) = left.denominator.multipliedReportingOverflow(by: right.numerator)
    return isTooLarge || overflows ? nil : reduced(numerator, over: denominator)
  }

  var negated: Self? { numerator == .min ? nil : Self(-numerator, over: denominator) }
}
