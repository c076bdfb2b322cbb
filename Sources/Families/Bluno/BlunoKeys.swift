// SPDX-License-Identifier: Apache-2.0

/// A key of the remote control.
public enum BlunoKey: String, Sendable, Hashable, CaseIterable {
  /// The arrows.
  case up, down, left, right
  /// Stop moving.
  case stop
  /// Keys without a fixed meaning.
  case f1, f2, f3, f4

  /// The character that the key sends by default: one of `f b l r s w x y z`.
  public var defaultCharacter: Character {
    switch self {
    case .up: "f"
    case .down: "b"
    case .left: "l"
    case .right: "r"
    case .stop: "s"
    case .f1: "w"
    case .f2: "x"
    case .f3: "y"
    case .f4: "z"
    }
  }
}

/// Which character each key sends.
///
/// A character may be any that ASCII can print except `<` and `>`, which enclose a speed. It may be a digit; a decoder
/// then reads that digit as the key and no longer as a task. No two keys have the same character.
public struct BlunoKeyMap: Sendable, Hashable {
  private var bytes: [BlunoKey: UInt8]

  /// The default characters of the remote control.
  public init() {
    bytes = [:]
    for key in BlunoKey.allCases { bytes[key] = key.defaultCharacter.asciiValue }
  }

  /// The default characters, with others for these keys. Two keys may swap their characters.
  ///
  /// - Throws: `BlunoError.badCharacter` or `characterInUse`.
  public init(_ characters: [BlunoKey: Character]) throws(BlunoError) {
    self.init()
    for (key, character) in characters { bytes[key] = try Self.byte(character) }
    for key in BlunoKey.allCases {
      for other in BlunoKey.allCases where other != key && bytes[other] == bytes[key] {
        throw .characterInUse(self[key], by: other)
      }
    }
  }

  /// The character of a key.
  public subscript(key: BlunoKey) -> Character { Character(UnicodeScalar(byte(of: key))) }

  /// Gives a key another character.
  ///
  /// - Throws: `BlunoError.badCharacter` or `characterInUse`.
  public mutating func set(_ key: BlunoKey, to character: Character) throws(BlunoError) {
    let byte = try Self.byte(character)
    if let other = self.key(for: byte), other != key { throw .characterInUse(character, by: other) }
    bytes[key] = byte
  }

  /// Restores the default characters.
  public mutating func reset() { self = BlunoKeyMap() }

  /// The key that sends this byte; `nil` if there is none.
  public func key(for byte: UInt8) -> BlunoKey? { BlunoKey.allCases.first { bytes[$0] == byte } }

  func byte(of key: BlunoKey) -> UInt8 { bytes[key] ?? 0 }

  private static func byte(_ character: Character) throws(BlunoError) -> UInt8 {
    guard let byte = character.asciiValue, (0x20...0x7E).contains(byte), character != "<", character != ">" else {
      throw .badCharacter(character)
    }
    return byte
  }
}
