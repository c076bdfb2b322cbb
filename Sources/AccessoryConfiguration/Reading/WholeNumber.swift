// SPDX-License-Identifier: Apache-2.0

/// Whole numbers in protocol descriptions: in decimal, or in hexadecimal after 0x.
package enum WholeNumber {
  /// Parses "12", "-3" or "0x1F"; nil when the text isn't a number, or the number doesn't fit.
  package static func read(_ text: some StringProtocol) -> Int? {
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let amount = isNegative ? text.dropFirst() : text[...]
    let isHexadecimal = amount.hasPrefix("0x") || amount.hasPrefix("0X")
    let digits = isHexadecimal ? amount.dropFirst(2) : amount
    // `Int` would also accept a sign before the digits.
    guard let first = digits.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+") else { return nil }
    return Int((isNegative ? "-" : "") + digits, radix: isHexadecimal ? 16 : 10)
  }
}
