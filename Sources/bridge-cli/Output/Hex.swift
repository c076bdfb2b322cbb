// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Bytes in the notations that people write.
enum Hex {
  /// Reads hexadecimal digits, two per byte. Spaces, colons and a leading 0x are skipped. Nil for anything else.
  static func bytes(_ text: String) -> [UInt8]? {
    var text = Substring(text)
    if text.hasPrefix("0x") || text.hasPrefix("0X") { text = text.dropFirst(2) }
    return Hexadecimal.bytes(text.filter { $0 != " " && $0 != ":" })
  }

  /// Printable ASCII unchanged, other bytes as dots.
  static func text(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
  }
}
