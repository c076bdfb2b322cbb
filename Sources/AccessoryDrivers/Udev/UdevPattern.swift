// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Text as a value in udev's rules, between quotes. Nothing in it can end the quotes or the line, stand for an
/// alternative, or be substituted.
///
/// udev (udev_rule_parse_value and rule_line_add_token of systemd's udev-rules.c) reads a value so: `\"` is a quote, any
/// other backslash stands for itself; what has `*`, `?` or `[` in it is matched by fnmatch(3), in the C locale, and there
/// a backslash takes the next character's meaning; `|` separates alternatives wherever it stands, also in brackets.
enum UdevPattern {
  /// A value for `==` that fits what `pattern` fits, and hardly more: a control character, and one that a reader of the
  /// rules wouldn't see or that reorders what stands beside it, stands for any character of as many bytes, and `|` also
  /// for a brace.
  static func match(_ pattern: TextPattern) -> String {
    var value: [UInt8] = []
    for scalar in pattern.text.unicodeScalars { add(scalar, to: &value) }
    // Where there is no such attribute, nothing fits.
    return value == [UInt8(ascii: "*")] ? "?*" : String(decoding: value, as: UTF8.self)
  }

  private static func add(_ scalar: Unicode.Scalar, to value: inout [UInt8]) {
    for byte in String(scalar).utf8 {
      switch byte {
      case UInt8(ascii: "*"):
        // One is as good as many, and faster.
        if value.last != byte { value.append(byte) }
      case UInt8(ascii: "\""): value += Array(#"\""#.utf8)
      // In brackets, so that it never stands before a quote.
      case UInt8(ascii: "\\"): value += Array(#"[\\]"#.utf8)
      case UInt8(ascii: "?"), UInt8(ascii: "["), UInt8(ascii: "$"), UInt8(ascii: "%"):
        value += [UInt8(ascii: "["), byte, UInt8(ascii: "]")]
      // The range of characters in which it is.
      case UInt8(ascii: "|"): value += Array("[{-}]".utf8)
      default: value.append(SafeText.isHarmless(scalar) ? byte : UInt8(ascii: "?"))
      }
    }
  }

  /// A word of letters, digits and `-_.@:` to be assigned; whatever else is in it is an underscore.
  static func word(_ text: String) -> String {
    String(
      decoding: text.utf8.map { byte -> UInt8 in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
          UInt8(ascii: "@"), UInt8(ascii: ":"):
          byte
        default: UInt8(ascii: "_")
        }
      }, as: UTF8.self)
  }
}
