// SPDX-License-Identifier: Apache-2.0

/// The name of an accessory on a shared line, as a user types it: `LINE@UNIT`.
package struct UnitName {
  /// The text before the last `@`.
  package let line: String
  let unit: Int

  /// Nil when the text after the last `@` isn't a unit number.
  package init?(_ text: String) {
    guard let at = text.lastIndex(of: "@"), at > text.startIndex else { return nil }
    let digits = text[text.index(after: at)...]
    guard let unit = Self.number(digits) else { return nil }
    (line, self.unit) = (String(text[..<at]), unit)
  }

  /// The number of a unit, 0 to 65535, in up to five decimal digits; nil for any other text.
  package static func number(_ digits: Substring) -> Int? {
    guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(digits).flatMap { $0 <= 65_535 ? $0 : nil }
  }
}
