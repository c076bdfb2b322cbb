// SPDX-License-Identifier: Apache-2.0

/// Decodes the bytes that a terminal sends into keys: UTF-8, and the escape sequences of xterm, the Linux console, rxvt
/// and screen. The decoder has no clock: only time shows whether an escape byte begins a sequence or is the Escape key,
/// so the caller measures it and calls `flush`.
package struct KeyDecoder: Sendable {
  private var pending: [UInt8] = []

  /// The longest sequence in bytes; longer ones are invalid.
  package static let longestSequence = 32

  /// A decoder at the start of a stream.
  package init() {}

  /// Whether there are bytes that may be the beginning of a character or a sequence.
  package var isPending: Bool { !pending.isEmpty }

  /// Takes the next bytes, and appends the keys that they make.
  package mutating func decode(_ bytes: some Sequence<UInt8>, into keys: inout [Key]) {
    for byte in bytes { take(byte, &keys) }
  }

  /// Call this when no bytes have followed for a while. Decodes the incomplete bytes as keys of their own.
  package mutating func flush(into keys: inout [Key]) {
    let bytes = pending
    pending = []
    guard let first = bytes.first else { return }
    guard first == 0x1B else { return keys.append(.unknown) }
    keys.append(.escape)
    // The bytes after an Escape that began no sequence were typed as well.
    for byte in bytes.dropFirst() { take(byte, &keys) }
  }

  private mutating func take(_ byte: UInt8, _ keys: inout [Key]) {
    guard let first = pending.first else { return begin(byte, &keys) }
    if first == 0x1B { return sequence(byte, &keys) }
    guard byte & 0xC0 == 0x80 else {
      // The character is incomplete.
      pending = []
      keys.append(.unknown)
      return begin(byte, &keys)
    }
    pending.append(byte)
    guard pending.count == Self.length(first) else { return }
    keys.append(Self.character(pending))
    pending = []
  }

  private mutating func begin(_ byte: UInt8, _ keys: inout [Key]) {
    switch byte {
    case 0x1B: pending = [byte]
    case 0x0D, 0x0A: keys.append(.enter)
    case 0x09: keys.append(.tab)
    case 0x08, 0x7F: keys.append(.backspace)
    case 0..<0x20: keys.append(.control(byte))
    case 0x20..<0x7F: keys.append(.character(Unicode.Scalar(byte)))
    case 0xC2...0xF4: pending = [byte]
    default: keys.append(.unknown)
    }
  }

  /// The number of bytes of a character with this first byte.
  private static func length(_ first: UInt8) -> Int { first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4 }

  private static func character(_ bytes: [UInt8]) -> Key {
    let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
    guard scalars.count == 1, let scalar = scalars.first, scalar != "\u{FFFD}", scalar.value >= 0xA0 else {
      return .unknown
    }
    return .character(scalar)
  }

  // MARK: - Escape sequences

  private mutating func sequence(_ byte: UInt8, _ keys: inout [Key]) {
    if byte == 0x1B || byte < 0x20 || byte > 0x7E {
      // This byte can't continue a sequence.
      flush(into: &keys)
      return take(byte, &keys)
    }
    pending.append(byte)
    guard pending.count > 1 else { return }
    let isOver: Bool
    switch pending[1] {
    case UInt8(ascii: "["):
      // The Linux console's F1 to F5 are ESC [ [ A and so on.
      let body = pending.dropFirst(2)
      isOver = body.last.map { (0x40...0x7E).contains($0) && !(body.count == 1 && $0 == UInt8(ascii: "[")) } ?? false
    case UInt8(ascii: "O"): isOver = pending.count == 3
    default:
      // Alt and a key: Alt is ignored.
      pending = []
      return take(byte, &keys)
    }
    if isOver {
      keys.append(Self.key(pending))
      pending = []
    } else if pending.count == Self.longestSequence {
      pending = []
      keys.append(.unknown)
    }
  }

  /// The key of a complete sequence. Modifiers are ignored.
  private static func key(_ bytes: [UInt8]) -> Key {
    guard let final = bytes.last else { return .unknown }
    if bytes.count == 4, bytes[2] == UInt8(ascii: "["), (0x41...0x45).contains(final) {
      return .function(Int(final) - 0x40)
    }
    switch final {
    case UInt8(ascii: "A"): return .up
    case UInt8(ascii: "B"): return .down
    case UInt8(ascii: "C"): return .right
    case UInt8(ascii: "D"): return .left
    case UInt8(ascii: "H"): return .home
    case UInt8(ascii: "F"): return .end
    case UInt8(ascii: "M") where bytes[1] == UInt8(ascii: "O"): return .enter
    case UInt8(ascii: "P")...UInt8(ascii: "S"): return .function(Int(final) - 0x4F)
    case UInt8(ascii: "~"): return numbered(bytes)
    default: return .unknown
    }
  }

  private static func numbered(_ bytes: [UInt8]) -> Key {
    let digits = bytes.dropFirst(2).prefix { (0x30...0x39).contains($0) }
    guard digits.count <= 3, let number = Int(String(decoding: digits, as: UTF8.self)) else { return .unknown }
    switch number {
    case 1, 7: return .home
    case 2: return .insert
    case 3: return .delete
    case 4, 8: return .end
    case 5: return .pageUp
    case 6: return .pageDown
    case 11...15: return .function(number - 10)
    case 17...21: return .function(number - 11)
    case 23, 24: return .function(number - 12)
    default: return .unknown
    }
  }
}
