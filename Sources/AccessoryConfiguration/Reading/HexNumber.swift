// SPDX-License-Identifier: Apache-2.0

/// Numbers in hexadecimal with leading zeros, as lsusb shows them.
package enum HexNumber {
  package static func text(_ number: some FixedWidthInteger & UnsignedInteger) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: number.bitWidth / 4 - digits.count) + digits
  }

  /// Parses "2341" or "0x2341"; nil when the text isn't a hexadecimal number, or the number is too large.
  package static func read<Number: FixedWidthInteger & UnsignedInteger>(_ text: String) -> Number? {
    let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
    guard (1...Number.bitWidth / 4).contains(digits.utf8.count), digits.first != "+" else { return nil }
    return Number(digits, radix: 16)
  }
}
