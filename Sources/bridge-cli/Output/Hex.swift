// SPDX-License-Identifier: Apache-2.0

/// Bytes as people write them.
enum Hex {
  static func string(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Reads hexadecimal digits, two a byte; spaces, colons and a leading 0x are passed over. Nil if it is something else.
  static func bytes(_ text: String) -> [UInt8]? {
    var text = Substring(text)
    if text.hasPrefix("0x") || text.hasPrefix("0X") { text = text.dropFirst(2) }
    let digits = text.filter { $0 != " " && $0 != ":" }
    guard digits.count.isMultiple(of: 2), digits.allSatisfy(\.isHexDigit) else { return nil }
    var bytes: [UInt8] = []
    var rest = digits[...]
    while !rest.isEmpty {
      guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  /// Printable ASCII as it is, all else as dots.
  static func text(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
  }
}
