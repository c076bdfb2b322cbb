// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Makes lines of the bytes that an accessory sends, in which nothing is left that a terminal would act on.
///
/// CR LF, LF and CR end a line. A tab is blanks up to the next column of eight. Other control characters, and bytes that
/// are no UTF-8, are made visible.
package struct ReceivedText: Sendable {
  /// What has come.
  package enum Piece: Sendable, Hashable {
    /// Goes on in the present line.
    case text(String)
    /// The present line is over.
    case newline
  }

  /// Bytes of a character that isn't whole.
  private var pending: [UInt8] = []
  private var endedByCR = false
  private var column = 0

  /// At the start of a line.
  package init() {}

  /// Takes the next bytes.
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

  /// The character at a place, and its bytes; nil when there is none.
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
    // Longer than need be, a surrogate, or beyond Unicode.
    guard value >= [0, 0, 0x80, 0x800, 0x1_0000][length], let scalar = Unicode.Scalar(value) else { return nil }
    return (scalar, length)
  }

  /// Nothing follows for now: what isn't whole is shown as it is.
  package mutating func flush() -> [Piece] {
    if pending.isEmpty { return [] }
    defer { pending = [] }
    return [.text(pending.map(Self.escaped).joined())]
  }

  /// Whether a part of a character waits for its rest.
  package var isPending: Bool { !pending.isEmpty }

  private static func escaped(_ byte: UInt8) -> String { "\\x" + Hexadecimal.string([byte]) }

  /// Takes the beginning of a character off the end.
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
