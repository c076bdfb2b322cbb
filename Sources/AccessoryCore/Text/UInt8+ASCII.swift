// SPDX-License-Identifier: Apache-2.0

// Bytes of names and words, which are ASCII whatever the language of a person is.

extension UInt8 {
  /// Whether this is a digit.
  package var isDigit: Bool { (0x30...0x39).contains(self) }

  /// Whether this is a digit, a small letter, or one of `others`.
  package func isSmallLetterOrDigit(or others: String) -> Bool {
    isDigit || (0x61...0x7A).contains(self) || others.utf8.contains(self)
  }

  /// Whether this is a digit, a letter, or one of `others`.
  package func isLetterOrDigit(or others: String) -> Bool {
    isDigit || (0x61...0x7A).contains(self | 0x20) || others.utf8.contains(self)
  }
}
