// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Writes text as a quoted value in udev's rules. It can't end the quotes or the line, act as an alternative, or be substituted.
///
/// udev parses a value like this (udev_rule_parse_value and rule_line_add_token in systemd's udev-rules.c): `\"` is a
/// quote, and any other backslash is literal. A value with `*`, `?` or `[` is matched by fnmatch(3) in the C locale,
/// where a backslash escapes the next character. `|` separates alternatives wherever it is, even in brackets.
enum UdevPattern {
  /// A value for `==` that matches what `pattern` matches, and hardly anything else: a control character, or one that
  /// is invisible or reorders the text next to it, becomes a `?` for each of its bytes, and `|` also matches a brace.
  static func match(_ pattern: TextPattern) -> String {
    var value: [UInt8] = []
    for scalar in pattern.text.unicodeScalars { add(scalar, to: &value) }
    // `*` would also match a device without the attribute, so this requires at least one character.
    return value == [UInt8(ascii: "*")] ? "?*" : String(decoding: value, as: UTF8.self)
  }

  private static func add(_ scalar: Unicode.Scalar, to value: inout [UInt8]) {
    for byte in String(scalar).utf8 {
      switch byte {
      case UInt8(ascii: "*"):
        // Successive stars equal a single one, which matches faster.
        if value.last != byte { value.append(byte) }
      case UInt8(ascii: "\""): value += Array(#"\""#.utf8)
      // In brackets, so that the backslash never comes before a quote.
      case UInt8(ascii: "\\"): value += Array(#"[\\]"#.utf8)
      case UInt8(ascii: "?"), UInt8(ascii: "["), UInt8(ascii: "$"), UInt8(ascii: "%"):
        value += [UInt8(ascii: "["), byte, UInt8(ascii: "]")]
      // The characters from `{` to `}`, which include `|`.
      case UInt8(ascii: "|"): value += Array("[{-}]".utf8)
      default: value.append(SafeText.isHarmless(scalar) ? byte : UInt8(ascii: "?"))
      }
    }
  }

  /// A value to assign, of letters, digits and `-_.@:`; every other byte becomes an underscore.
  static func word(_ text: String) -> String {
    String(decoding: text.utf8.map { $0.isLetterOrDigit(or: "-_.@:") ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
  }
}
