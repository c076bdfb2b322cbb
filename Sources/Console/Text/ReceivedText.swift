// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Splits the bytes that an accessory sends into lines of text that is safe to write to a terminal.
///
/// CR LF, LF and CR end a line. A tab becomes blanks up to the next multiple of eight columns. Other control
/// characters, and bytes that aren't UTF-8, are escaped.
///
/// Colours (SGR sequences of at most `colourLimit` bytes) can be kept. Each piece of text then sets its own colours and resets
/// them at its end, and a line's end ends them.
package struct ReceivedText: Sendable {
  /// Which colours are kept.
  package enum Colours: Sendable, Hashable {
    /// None: their sequences are escaped.
    case none
    /// All, until another control sequence is received: an accessory that moves the cursor isn't shown as it wants anyway.
    case alone
    case all
  }

  /// A part of the decoded text.
  package enum Piece: Sendable, Hashable {
    /// Text that continues the current line.
    case text(String)
    /// The current line ends.
    case newline
  }

  /// The bytes of an incomplete character or colour sequence.
  private var pending: [UInt8] = []
  private var endedByCR = false
  private var column = 0
  private var colours: Colours
  /// The sequences of the current colours.
  private var colour = ""

  /// The longest sequence of a colour, and of all current ones together, in bytes.
  package static let colourLimit = 32
  private static let escape: UInt8 = 0x1B
  private static let reset = "\u{1B}[0m"

  /// A decoder at the start of a line.
  package init(colours: Colours = .none) { self.colours = colours }

  /// Takes the next bytes, and returns the text that they make.
  package mutating func take(_ bytes: [UInt8]) -> [Piece] {
    var bytes = pending + bytes
    pending = colours == .none ? [] : Self.cutOffColour(&bytes)
    if pending.isEmpty { pending = Self.cutOff(&bytes) }
    return decode(bytes)
  }

  private mutating func decode(_ bytes: [UInt8]) -> [Piece] {
    var pieces: [Piece] = []
    var (text, shownColour) = ("", "")
    func finishText() {
      if !shownColour.isEmpty { text += Self.reset }
      if !text.isEmpty { pieces.append(.text(text)) }
      (text, shownColour) = ("", "")
    }
    func put(_ part: String, _ colour: String) {
      if shownColour != colour { text += (shownColour.isEmpty ? "" : Self.reset) + colour }
      shownColour = colour
      text += part
    }
    var position = 0
    while position < bytes.count {
      if bytes[position] == Self.escape, colours != .none {
        if let length = Self.colourLength(bytes[position...]), length > 0 {
          change(to: String(decoding: bytes[position..<position + length], as: UTF8.self))
          position += length
          endedByCR = false
          continue
        }
        if colours == .alone { (colours, colour) = (.none, "") }
      }
      guard let (scalar, length) = Self.scalar(in: bytes, at: position) else {
        let escaped = Self.escaped(bytes[position])
        put(escaped, colour)
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
        (column, colour) = (0, "")
      } else if scalar == "\t" {
        let blanks = 8 - column % 8
        put(String(repeating: " ", count: blanks), colour)
        column += blanks
      } else {
        let escaped = SafeText.escape(String(scalar), limit: 1)
        put(escaped, colour)
        column += escaped.count
      }
    }
    finishText()
    return pieces
  }

  /// Adds a sequence to the current colours. One that begins with 0, or has no number, ends them first.
  private mutating func change(to sequence: String) {
    let numbers = sequence.dropFirst(2).dropLast()
    let first = numbers.prefix { $0 != ";" }
    if first.allSatisfy({ $0 == "0" }) { colour = "" }
    if numbers.allSatisfy({ "0;".contains($0) }) { return }
    colour = colour.utf8.count + sequence.utf8.count > Self.colourLimit ? sequence : colour + sequence
  }

  /// The length of the colour sequence at the beginning of these bytes, which begin with an escape; 0 if there is none, nil if the bytes
  /// are the beginning of one.
  private static func colourLength(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard let bracket = bytes.dropFirst().first else { return nil }
    guard bracket == UInt8(ascii: "[") else { return 0 }
    let numbers = bytes.dropFirst(2).prefix(colourLimit - 2).prefix {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ";")
    }
    let length = numbers.count + 3
    guard length <= colourLimit else { return 0 }
    guard numbers.endIndex < bytes.endIndex else { return nil }
    return bytes[numbers.endIndex] == UInt8(ascii: "m") ? length : 0
  }

  /// Removes the beginning of a colour sequence from the end of `bytes`, and returns it.
  private static func cutOffColour(_ bytes: inout [UInt8]) -> [UInt8] {
    guard let start = bytes.suffix(colourLimit).lastIndex(of: escape), colourLength(bytes[start...]) == nil else {
      return []
    }
    let cut = Array(bytes[start...])
    bytes.removeSubrange(start...)
    return cut
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

  /// Call this when no bytes have followed for a while. Returns an incomplete character as escaped bytes, and the beginning of a colour
  /// sequence as text.
  package mutating func flush() -> [Piece] {
    if pending.isEmpty { return [] }
    defer { pending = [] }
    return decode(pending)
  }

  /// Whether an incomplete character or colour waits for the rest of its bytes.
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
