// SPDX-License-Identifier: Apache-2.0

/// A pattern for texts, in which each `*` matches any number of characters, including none.
public struct TextPattern: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The pattern's text.
  public var text: String
  /// Whether each `?` matches any one byte.
  private var takesOne = false

  /// A pattern with this text.
  public init(_ text: String) { self.text = text }

  /// A pattern with this text, in which each `?` matches any one byte.
  package init(_ text: String, questionMarks takesOne: Bool) { (self.text, self.takesOne) = (text, takesOne) }

  /// A pattern with this text.
  public init(stringLiteral text: String) { self.text = text }

  /// The pattern's text.
  public var description: String { text }

  /// Whether the pattern matches only one text.
  public var isExact: Bool { !text.utf8.contains(Self.star) }

  /// Whether the pattern matches every text.
  public var isAnything: Bool { !text.isEmpty && text.utf8.allSatisfy { $0 == Self.star } }

  /// Whether the pattern matches `candidate`. Compares bytes; the time is at most proportional to the product of the lengths.
  public func fits(_ candidate: String) -> Bool {
    let (pattern, subject) = (Array(text.utf8), Array(candidate.utf8))
    var (place, position) = (0, 0)
    // Where to resume after a mismatch: the last star matches one more byte.
    var retry: (place: Int, position: Int)?
    while position < subject.count {
      if place < pattern.count, pattern[place] == Self.star {
        retry = (place, position)
        place += 1
      } else if place < pattern.count,
        pattern[place] == subject[position] || takesOne && pattern[place] == UInt8(ascii: "?")
      {
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
