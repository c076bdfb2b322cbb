// SPDX-License-Identifier: Apache-2.0

/// Escapes text that a device sent, for a terminal or a log.
package enum SafeText {
  /// The text with characters that a terminal would act on written as `\u{…}`, cut after `limit` Unicode scalars.
  package static func escape(_ text: String, limit: Int = 64) -> String {
    var escaped = ""
    // Scalars are counted, not characters: one character may have any number of scalars.
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

  /// The JSON document with the same scalars escaped. They can only occur within JSON strings, so its meaning doesn't
  /// change.
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

  /// False for control characters, invisible characters, and characters that reorder or hide their neighbours.
  /// Variation selectors, which emoji use, are harmless.
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
