// SPDX-License-Identifier: Apache-2.0

/// Makes text that a device sent harmless for a terminal and for a log.
package enum SafeText {
  /// The text with everything that a terminal would act on made visible, and cut after `limit` characters.
  package static func escape(_ text: String, limit: Int = 64) -> String {
    var escaped = ""
    // Scalars, not characters: a character may have any number of them.
    var count = 0
    for scalar in text.unicodeScalars {
      if count == limit { return escaped + "…" }
      count += 1
      if isHarmless(scalar) {
        escaped.unicodeScalars.append(scalar)
      } else {
        escaped += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return escaped
  }

  /// JSON with the same scalars, which can only stand within its strings, as escapes: the meaning stays.
  package static func escapeJSON(_ json: String) -> String {
    if json.unicodeScalars.allSatisfy(isHarmless) { return json }
    var escaped = ""
    for scalar in json.unicodeScalars {
      if isHarmless(scalar) {
        escaped.unicodeScalars.append(scalar)
      } else {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      }
    }
    return escaped
  }

  /// False for control characters, and for those that reorder or hide what stands beside them, or aren't seen
  /// themselves. The selectors of a character's variant (emoji have them) are harmless.
  package static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
    let properties = scalar.properties
    if properties.isDefaultIgnorableCodePoint, !(0xFE00...0xFE0F).contains(scalar.value) { return false }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
    default: return true
    }
  }
}
