// SPDX-License-Identifier: Apache-2.0

/// A plain value: an argument or a result of a command, or a field of a frame. Every output format can show it.
public enum PlainValue: Sendable, Hashable {
  /// A whole number.
  case whole(Int)
  /// A number.
  case number(Double)
  /// A text. Escape one that came from an accessory before showing it.
  case text(String)
  /// Several values.
  case list([PlainValue])
  /// Bytes.
  case bytes([UInt8])
  /// Yes or no.
  case flag(Bool)
  /// No value.
  case nothing
}
