// SPDX-License-Identifier: Apache-2.0

/// A key that was pressed at a terminal.
package enum Key: Sendable, Hashable {
  /// A visible character, or a space.
  case character(Unicode.Scalar)
  /// A letter, or one of `@[\]^_`, together with Ctrl; also a control character without a case of its own. The byte is
  /// 0…31.
  case control(UInt8)
  case enter, tab, backspace, escape
  case up, down, left, right
  case home, end, insert, delete, pageUp, pageDown
  /// F1 to F12.
  case function(Int)
  /// A sequence that isn't recognized.
  case unknown
}

extension Key {
  /// Ctrl and a letter: `.ctrl("c")` is byte 03.
  package static func ctrl(_ letter: Unicode.Scalar) -> Key { .control(UInt8(letter.value & 0x1F)) }
}
