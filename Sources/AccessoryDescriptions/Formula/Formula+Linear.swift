// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension ProtocolDescription.Formula.Linear {
  private typealias Fraction = ProtocolDescription.Fraction

  /// The linear form of a formula that consists of `raw`, numbers and the four operations; nil for any other. `variable` is the part that
  /// stands for `raw`, and `sent` gives the numbers of names.
  init?(
    _ root: ProtocolDescription.Formula.Node, in variable: ProtocolDescription.Formula.Node = .raw(nil),
    sent: (String) -> Int? = { _ in nil }
  ) {
    guard let (slope, constant) = Self.terms(root, variable, sent) else { return nil }
    self.init(slope: slope, constant: constant)
  }

  /// slope · raw + constant; nil if that doesn't depend on `raw`, or if its numbers are too large.
  init?(slope: ProtocolDescription.Fraction, constant: ProtocolDescription.Fraction) {
    guard slope.numerator != 0 else { return nil }
    // The least common denominator.
    guard let ratio = Fraction.reduced(slope.denominator, over: constant.denominator) else { return nil }
    let (divisor, overflows) = constant.denominator.multipliedReportingOverflow(by: ratio.numerator)
    guard !overflows else { return nil }
    let (factor, isTooLarge) = slope.numerator.multipliedReportingOverflow(by: divisor / slope.denominator)
    let (addend, isAddendTooLarge) = constant.numerator.multipliedReportingOverflow(by: divisor / constant.denominator)
    guard !isTooLarge, !isAddendTooLarge else { return nil }
    (self.factor, self.addend, self.divisor) = (factor, addend, divisor)
  }

  /// The coefficients of the variable; nil if the formula isn't linear in it.
  private static func terms(
    _ node: ProtocolDescription.Formula.Node, _ variable: ProtocolDescription.Formula.Node, _ sent: (String) -> Int?
  ) -> (slope: ProtocolDescription.Fraction, constant: ProtocolDescription.Fraction)? {
    if node == variable { return (.one, .zero) }
    switch node {
    case .number(let number): return (.zero, number)
    case .name(let name): return sent(name).map { (.zero, Fraction($0)) }
    case .negated(let part):
      guard let (slope, constant) = terms(part, variable, sent), let slope = slope.negated,
        let constant = constant.negated
      else {
        return nil
      }
      return (slope, constant)
    case .operation(let sign, let left, let right):
      guard let left = terms(left, variable, sent), let right = terms(right, variable, sent) else { return nil }
      switch sign {
      case .plus: return both(left.slope + right.slope, left.constant + right.constant)
      case .minus: return both(left.slope - right.slope, left.constant - right.constant)
      case .times where right.slope.numerator == 0:
        return both(left.slope * right.constant, left.constant * right.constant)
      case .times where left.slope.numerator == 0:
        return both(left.constant * right.slope, left.constant * right.constant)
      case .dividedBy where right.slope.numerator == 0:
        return both(left.slope / right.constant, left.constant / right.constant)
      default: return nil
      }
    default: return nil
    }
  }

  private static func both(
    _ slope: ProtocolDescription.Fraction?, _ constant: ProtocolDescription.Fraction?
  ) -> (slope: ProtocolDescription.Fraction, constant: ProtocolDescription.Fraction)? {
    guard let slope, let constant else { return nil }
    return (slope, constant)
  }
}

extension ProtocolDescription.Formula.Linear {
  /// Whether the value is the raw number.
  public var isRaw: Bool { factor == 1 && addend == 0 && divisor == 1 }

  /// (raw + offset) · factor / divisor, where `offset` is a whole number; nil where it isn't one.
  public var offset: Int? { addend.isMultiple(of: factor) ? addend / factor : nil }

  /// The value of a raw number: whole where nothing is divided. Nil if it overflows.
  @inline(__always)
  package func plainValue(_ raw: Int) -> PlainValue? {
    let (product, isTooLarge) = raw.multipliedReportingOverflow(by: factor)
    let (sum, overflows) = product.addingReportingOverflow(addend)
    guard !isTooLarge, !overflows else { return nil }
    // Both numbers are exact below 2⁵³, so this is the `Double` nearest to the quotient.
    return divisor == 1 ? .whole(sum) : .number(Double(sum) / Double(divisor))
  }

  /// The value of a number with `decimals` decimals, rounded once; nil if it overflows.
  func value(_ number: DecimalNumber) -> Double? {
    let (product, isTooLarge) = number.mantissa.multipliedReportingOverflow(by: factor)
    let (rest, isRestTooLarge) = addend.multipliedReportingOverflow(by: number.divisor)
    let (sum, overflows) = product.addingReportingOverflow(rest)
    let (divisor, isDivisorTooLarge) = divisor.multipliedReportingOverflow(by: number.divisor)
    guard !isTooLarge, !isRestTooLarge, !overflows, !isDivisorTooLarge else { return nil }
    return Double(sum) / Double(divisor)
  }

  /// The value of a floating-point number.
  func value(_ number: Double) -> Double {
    isRaw ? number : (number * Double(factor) + Double(addend)) / Double(divisor)
  }

  /// The number, not rounded, whose value is `value`.
  func inverse(_ value: Double) -> Double { (value * Double(divisor) - Double(addend)) / Double(factor) }
}
