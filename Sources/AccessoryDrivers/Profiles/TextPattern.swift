// SPDX-License-Identifier: Apache-2.0

/// What a text must be: to the letter, but that each `*` stands for any characters, or none.
public struct TextPattern: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The pattern as it is written.
  public var text: String

  /// A pattern as it is written.
  public init(_ text: String) { self.text = text }

  /// A pattern as it is written.
  public init(stringLiteral text: String) { self.text = text }

  /// The pattern as it is written.
  public var description: String { text }

  /// Whether it stands for one text only.
  public var isExact: Bool { !text.utf8.contains(Self.star) }

  /// Whether it stands for every text.
  public var isAnything: Bool { !text.isEmpty && text.utf8.allSatisfy { $0 == Self.star } }

  /// Whether `candidate` is as this says. Compares bytes, in time that grows with the product of the lengths at most.
  public func fits(_ candidate: String) -> Bool {
    let (pattern, subject) = (Array(text.utf8), Array(candidate.utf8))
    var (place, position) = (0, 0)
    // Where to go on when the rest doesn't fit: the last star takes one byte more.
    var retry: (place: Int, position: Int)?
    while position < subject.count {
      if place < pattern.count, pattern[place] == Self.star {
        retry = (place, position)
        place += 1
      } else if place < pattern.count, pattern[place] == subject[position] {
        place += 1
        position += 1
      } else if let last = retry {
        retry = (last.place, last.position + 1)
        (place, position) = (last.place + 1, last.position + 1)
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == Self.star }
  }

  private static let star = UInt8(ascii: "*")
}
