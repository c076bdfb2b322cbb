// SPDX-License-Identifier: Apache-2.0

/// Base64 (RFC 4648): the names and passwords that browsers send, and keys.
package enum Base64 {
  /// The decoded bytes; nil if the text isn't valid.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count) = (UInt32(0), 0)
    let digits = Array(text.utf8)
    let data = digits.prefix { $0 != UInt8(ascii: "=") }
    guard digits.count - data.count <= 2, digits[data.count...].allSatisfy({ $0 == UInt8(ascii: "=") }) else {
      return nil
    }
    for digit in data {
      guard let value = value(digit) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        bits &= (1 << UInt32(count)) - 1
      }
    }
    return bytes
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
