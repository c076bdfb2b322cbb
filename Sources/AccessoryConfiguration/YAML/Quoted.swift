// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Writes text in double quotes, as YAML. Everything that could end the quotes or the line, or control a terminal, is escaped.
package enum Quoted {
  /// The quoted text, cut off after `limit` characters.
  package static func text(_ text: String, limit: Int = 60) -> String {
    let scalars = text.unicodeScalars
    let rest = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex) ?? scalars.endIndex
    return whole(String(scalars[..<rest])) + (rest == scalars.endIndex ? "" : "…")
  }

  package static func whole(_ text: String) -> String {
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
