// SPDX-License-Identifier: Apache-2.0

/// Numbers and texts in protocols that are made of ASCII.
enum WireText {
  /// What ends a line.
  static let lineEnd: [UInt8] = [0x0D, 0x0A]

  /// A number of at most 16 hexadecimal digits, of either case; `nil` if it is anything else.
  static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt64? {
    // The standard library would take a sign, too.
    guard (1...16).contains(digits.count), digits.allSatisfy(ReplyPattern.Element.hexDigit.matches) else { return nil }
    return UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  /// A number of at most nine decimal digits; `nil` if it is anything else.
  static func decimal(_ digits: ArraySlice<UInt8>) -> Int? {
    guard (1...9).contains(digits.count), digits.allSatisfy(ReplyPattern.Element.digit.matches) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  /// The same with a minus sign allowed in front.
  static func signed(_ digits: ArraySlice<UInt8>) -> Int? {
    guard digits.first == UInt8(ascii: "-") else { return decimal(digits) }
    return decimal(digits.dropFirst()).map { -$0 }
  }

  /// At least so many hexadecimal digits, in capitals.
  static func hexadecimal(_ value: UInt64, digits: Int) -> String {
    padded(String(value, radix: 16, uppercase: true), to: digits)
  }

  /// At least so many decimal digits, with a minus sign in front if there must be one.
  static func decimal(_ value: Int, digits: Int) -> String {
    (value < 0 ? "-" : "") + padded(String(value.magnitude), to: digits)
  }

  /// Without the line ends behind it.
  static func withoutLineEnds(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let last = bytes.last, lineEnd.contains(last) { bytes.removeLast() }
    return bytes
  }

  /// Whether a text has no byte that could end a line or a command.
  static func isFreeOfControls(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

  /// What follows `prefix`, if the bytes begin with it.
  static func rest(of bytes: ArraySlice<UInt8>, behind prefix: String) -> ArraySlice<UInt8>? {
    bytes.starts(with: prefix.utf8) ? bytes.dropFirst(prefix.utf8.count) : nil
  }

  private static func padded(_ digits: String, to count: Int) -> String {
    String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }
}
