// SPDX-License-Identifier: Apache-2.0

/// A value that programs can work with, and that every form of output has: of a command's argument or result, of a frame's
/// field.
public enum PlainValue: Sendable, Hashable {
  /// A whole number.
  case whole(Int)
  /// A number.
  case number(Double)
  /// A text: an accessory's own is shown escaped.
  case text(String)
  /// Several values.
  case list([PlainValue])
  /// Bytes.
  case bytes([UInt8])
  /// Yes or no.
  case flag(Bool)
  /// There is none.
  case nothing
}
