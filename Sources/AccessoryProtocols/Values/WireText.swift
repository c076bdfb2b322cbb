// SPDX-License-Identifier: Apache-2.0

/// Reads and writes numbers and lines of ASCII protocols.
package enum WireText {
  /// The bytes that end a line: CR LF.
  package static let lineEnd: [UInt8] = [0x0D, 0x0A]

  /// Reads a number of at most 16 hexadecimal digits, of either case; `nil` for any other text.
  package static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt64? {
    // The parser of the standard library would also accept a sign.
    guard (1...16).contains(digits.count), digits.allSatisfy(ReplyPattern.Element.hexDigit.matches) else { return nil }
    return UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  /// Reads a number of at most nine decimal digits; `nil` for any other text.
  package static func decimal(_ digits: ArraySlice<UInt8>) -> Int? {
    guard (1...9).contains(digits.count), digits.allSatisfy(ReplyPattern.Element.digit.matches) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  /// Reads a number of at most nine decimal digits, with an optional minus sign; `nil` for any other text.
  package static func signed(_ digits: ArraySlice<UInt8>) -> Int? {
    guard digits.first == UInt8(ascii: "-") else { return decimal(digits) }
    return decimal(digits.dropFirst()).map { -$0 }
  }

  /// A number with at least `digits` hexadecimal digits, in upper case.
  package static func hexadecimal(_ value: UInt64, digits: Int) -> String {
    padded(String(value, radix: 16, uppercase: true), to: digits)
  }

  /// A number with at least `digits` decimal digits, and a minus sign if it is negative.
  package static func decimal(_ value: Int, digits: Int) -> String {
    (value < 0 ? "-" : "") + padded(String(value.magnitude), to: digits)
  }

  /// The bytes without CR and LF at their end.
  package static func withoutLineEnds(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let last = bytes.last, lineEnd.contains(last) { bytes.removeLast() }
    return bytes
  }

  /// Whether a text has no control characters, such as a line end.
  package static func isFreeOfControls(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

  /// The bytes behind `prefix`; nil if the bytes don't begin with it.
  package static func rest(of bytes: ArraySlice<UInt8>, behind prefix: String) -> ArraySlice<UInt8>? {
    bytes.starts(with: prefix.utf8) ? bytes.dropFirst(prefix.utf8.count) : nil
  }

  private static func padded(_ digits: String, to count: Int) -> String {
    String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }
}
