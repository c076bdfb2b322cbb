// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A name as one level of a topic and as an identifier in Home Assistant: 1 to 64 characters of `A…Z a…z 0…9 _ -`.
///
/// A name with only these characters is its own level. Any other name becomes its first 24 characters (each invalid one replaced by
/// `-`), then `-`, then the first 16 hexadecimal digits of its SHA-256 hash: the accessory `FT4X1@2` becomes
/// `FT4X1-2-b424876efef46d98`. A name that already looks like such a level also gets a hash. So different names have different
/// levels, and text from a device can never add a level or a wildcard to a topic.
package struct TopicLevel: Sendable, Hashable, Comparable, CustomStringConvertible {
  package let text: String

  /// The longest level, in bytes.
  package static let longest = 64

  /// The level of a name. The name may have any length and content.
  package init(naming name: String) {
    let isPlain = Self.isLevel(name.utf8) && !Self.endsInSum(name.utf8)
    text = isPlain ? name : Self.summed(name)
  }

  /// The level of an accessory whose id another accessory of the same gateway also has. Adds its place, which is unique.
  package init(naming name: String, at place: String) {
    text = Self.summed(name + "\u{0}" + place, shown: name)
  }

  /// Reads a level from a topic; nil if the text isn't a valid level.
  package init?(level text: some StringProtocol) {
    guard Self.isLevel(text.utf8) else { return nil }
    self.text = String(text)
  }

  /// The level as text.
  package var description: String { text }

  package static func < (first: TopicLevel, second: TopicLevel) -> Bool { first.text < second.text }

  /// The most characters of a name that are shown before its hash.
  private static let shown = 24
  /// The number of hexadecimal digits of the hash.
  private static let digits = 16

  private static func isLevel(_ bytes: some Collection<UInt8>) -> Bool {
    (1...longest).contains(bytes.count) && bytes.allSatisfy(isAllowed)
  }

  /// Whether a level may have this byte.
  static func isAllowed(_ byte: UInt8) -> Bool { byte.isLetterOrDigit(or: "_-") }

  private static func endsInSum(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
    let end = bytes.suffix(digits + 1)
    guard end.count == digits + 1, end.first == UInt8(ascii: "-") else { return false }
    return end.dropFirst().allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
  }

  private static func summed(_ text: String, shown name: String? = nil) -> String {
    let sum = Hexadecimal.string(SHA256.sum(Array(text.utf8))).prefix(digits)
    let begin = (name ?? text).utf8.prefix(shown).map { isAllowed($0) ? $0 : UInt8(ascii: "-") }
    return String(decoding: begin, as: UTF8.self) + "-" + sum
  }
}
