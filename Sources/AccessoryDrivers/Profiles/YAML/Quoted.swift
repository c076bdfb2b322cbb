// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Text in double quotes, as YAML reads it: nothing in it can end the quotes, a line, or act on a terminal.
enum Quoted {
  /// The text, cut after `limit` characters.
  static func text(_ text: String, limit: Int = 60) -> String {
    let scalars = text.unicodeScalars
    let rest = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex) ?? scalars.endIndex
    return whole(String(scalars[..<rest])) + (rest == scalars.endIndex ? "" : "…")
  }

  /// All of the text.
  static func whole(_ text: String) -> String {
    "\"" + text.unicodeScalars.map(escaped).joined() + "\""
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\\": return "\\\\"
    case "\"": return "\\\""
    default: break
    }
    if SafeText.isHarmless(scalar) { return String(scalar) }
    let digits = String(scalar.value, radix: 16)
    let width = scalar.value > 0xFFFF ? 8 : 4
    return (width == 8 ? "\\U" : "\\u") + String(repeating: "0", count: width - digits.count) + digits
  }
}
