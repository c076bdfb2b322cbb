// SPDX-License-Identifier: Apache-2.0

/// Numbers as text for people. Works for all values of its parameters.
package enum DecimalText {
  /// Thousandths as a decimal number with three digits: "3.712", "-0.250".
  package static func thousandths(_ count: Int) -> String {
    let digits = String(count.magnitude % 1_000)
    return (count < 0 ? "-" : "") + "\(count.magnitude / 1_000)." + String(repeating: "0", count: 3 - digits.count)
      + digits
  }

  /// Milliseconds as seconds with one digit, rounded towards zero: "12.3".
  package static func tenths(ofSeconds milliseconds: Int) -> String {
    (milliseconds < 0 ? "-" : "") + "\(milliseconds.magnitude / 1_000).\(milliseconds.magnitude / 100 % 10)"
  }

  /// A number, without a fraction if it is whole: "480", "1.5".
  package static func short(_ number: Double) -> String {
    Int(exactly: number).map { String($0) } ?? "\(number)"
  }
}
