// SPDX-License-Identifier: Apache-2.0

/// Whole numbers as descriptions of protocols write them: in decimal, or in hexadecimal behind 0x.
enum WholeNumber {
  /// Reads "12", "-3" or "0x1F"; nil when it is something else, or doesn't fit.
  static func read(_ text: some StringProtocol) -> Int? {
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let amount = isNegative ? text.dropFirst() : text[...]
    let isHexadecimal = amount.hasPrefix("0x") || amount.hasPrefix("0X")
    let digits = isHexadecimal ? amount.dropFirst(2) : amount
    // The standard library would take a sign in front of the digits, too.
    guard let first = digits.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+") else { return nil }
    return Int((isNegative ? "-" : "") + digits, radix: isHexadecimal ? 16 : 10)
  }
}
