// SPDX-License-Identifier: Apache-2.0

extension CommandDescription {
  /// A value of the accessory that a command changes.
  public struct Setting: Sendable, Hashable {
    /// The value's name, as the accessory's readings have it.
    public var name: String
    /// Its new value.
    public var source: Source

    /// Where the new value comes from.
    public enum Source: Sendable, Hashable {
      /// The argument with this name. The new value is (argument + offset) · numerator / denominator; all three are 0, 1 and 1 where the
      /// argument is no number.
      case argument(String, offset: Int = 0, numerator: Int = 1, denominator: Int = 1)
      /// Always this text: a word, "yes", a number.
      case value(String)
    }

    /// A value that is set.
    public init(_ name: String, _ source: Source) { (self.name, self.source) = (name, source) }

    /// The argument, as it is typed, for this new value; nil where the value doesn't come from an argument, and where no whole number
    /// gives it.
    public func argument(for value: String) -> String? {
      guard case .argument(_, let offset, let numerator, let denominator) = source else { return nil }
      if (offset, numerator, denominator) == (0, 1, 1) { return value }
      // Exact: a decimal number is a whole one over a power of ten.
      let parts = value.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      let fraction = parts.count == 2 ? parts[1] : ""
      guard value.utf8.count <= 18, parts.count == 1 || !fraction.isEmpty,
        fraction.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let digits = Int("\(parts[0])\(fraction)")
      else { return nil }
      var power = 1
      for _ in fraction.utf8 { power *= 10 }
      let (dividend, isTooLarge) = digits.multipliedReportingOverflow(by: denominator)
      let (divisor, isTooFine) = power.multipliedReportingOverflow(by: numerator)
      guard !isTooLarge, !isTooFine, divisor != 0, dividend != .min, dividend % divisor == 0 else { return nil }
      let (number, overflows) = (dividend / divisor).subtractingReportingOverflow(offset)
      return overflows ? nil : "\(number)"
    }
  }
}
