// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Splits the bytes that an accessory sends into lines of text that is safe to write to a terminal.
///
/// CR LF, LF and CR end a line. A tab becomes blanks up to the next multiple of eight columns. Other control
/// characters, and bytes that aren't UTF-8, are escaped.
package struct ReceivedText: Sendable {
  /// A part of the decoded text.
  package enum Piece: Sendable, Hashable {
    /// Text that continues the current line.
    case text(String)
    /// The current line ends.
    case newline
  }

  /// The bytes of an incomplete character.
  private var pending: [UInt8] = []
  private var endedByCR = false
  private var column = 0

  /// A decoder at the start of a line.
  package init() {}

  /// Takes the next bytes, and returns the text that they make.
  package mutating func take(_ bytes: [UInt8]) -> [Piece] {
    var pieces: [Piece] = []
    var text = ""
    func finishText() {
      if !text.isEmpty { pieces.append(.text(text)) }
      text = ""
    }
    var bytes = pending + bytes
    pending = Self.cutOff(&bytes)
    var position = 0
    while position < bytes.count {
      guard let (scalar, length) = Self.scalar(in: bytes, at: position) else {
        let escaped = Self.escaped(bytes[position])
        text += escaped
        column += escaped.count
        position += 1
        endedByCR = false
        continue
      }
      position += length
      if scalar == "\n", endedByCR {
        endedByCR = false
        continue
      }
      endedByCR = scalar == "\r"
      if scalar == "\n" || scalar == "\r" {
        finishText()
        pieces.append(.newline)
        column = 0
      } else if scalar == "\t" {
        let blanks = 8 - column % 8
        text += String(repeating: " ", count: blanks)
        column += blanks
      } else {
        let escaped = SafeText.escape(String(scalar), limit: 1)
        text += escaped
        column += escaped.count
      }
    }
    finishText()
    return pieces
  }

  /// The character at this position, and its length in bytes; nil when the bytes are invalid.
  private static func scalar(in bytes: [UInt8], at position: Int) -> (Unicode.Scalar, Int)? {
    let first = bytes[position]
    if first < 0x80 { return (Unicode.Scalar(first), 1) }
    guard (0xC2...0xF4).contains(first) else { return nil }
    let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    guard position + length <= bytes.count else { return nil }
    var value = UInt32(first) & (0x7F >> UInt32(length))
    for byte in bytes[(position + 1)..<(position + length)] {
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    // Rejects overlong encodings, surrogates and values beyond Unicode.
    guard value >= [0, 0, 0x80, 0x800, 0x1_0000][length], let scalar = Unicode.Scalar(value) else { return nil }
    return (scalar, length)
  }

  /// Call this when no bytes have followed for a while. Returns an incomplete character as escaped bytes.
  package mutating func flush() -> [Piece] {
    if pending.isEmpty { return [] }
    defer { pending = [] }
    return [.text(pending.map(Self.escaped).joined())]
  }

  /// Whether an incomplete character waits for the rest of its bytes.
  package var isPending: Bool { !pending.isEmpty }

  private static func escaped(_ byte: UInt8) -> String { "\\x" + Hexadecimal.string([byte]) }

  /// Removes an incomplete character from the end of `bytes`, and returns it.
  private static func cutOff(_ bytes: inout [UInt8]) -> [UInt8] {
    for count in 1...3 where count <= bytes.count {
      let byte = bytes[bytes.count - count]
      if byte & 0xC0 == 0x80 { continue }
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1
      guard length > count, byte <= 0xF4 else { return [] }
      let cut = Array(bytes.suffix(count))
      bytes.removeLast(count)
      return cut
    }
    return []
  }
}
