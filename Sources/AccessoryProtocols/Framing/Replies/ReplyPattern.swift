// SPDX-License-Identifier: Apache-2.0

/// How one kind of reply looks, for devices that put nothing behind their replies.
///
/// A pattern is a run of elements, one for each byte, and optionally a terminator: then any bytes may follow, up to and
/// including the terminator. `ReplyPattern("OK+ADDR:", .hexDigit, count: 12)` is an HM-10's answer with its address,
/// `ReplyPattern("OK+NAME:", terminator: [0x0D, 0x0A])` one with a name.
public struct ReplyPattern: Sendable, Hashable {
  /// What one byte of a reply can be.
  public enum Element: Sendable, Hashable {
    /// This byte.
    case byte(UInt8)
    /// An ASCII digit.
    case digit
    /// An ASCII hexadecimal digit, of either case.
    case hexDigit
    /// A byte of this range.
    case range(ClosedRange<UInt8>)
    /// Any byte.
    case any

    @inline(__always)
    func matches(_ byte: UInt8) -> Bool {
      switch self {
      case .byte(let wanted): byte == wanted
      case .digit: Self.isDigit(byte)
      case .hexDigit: Self.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
      case .range(let wanted): wanted.contains(byte)
      case .any: true
      }
    }

    @inline(__always)
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
  }

  /// The bytes with which the reply begins, or all of them.
  public var elements: [Element]
  /// What ends the reply behind the elements and any other bytes; if empty, the elements are all.
  public var terminator: [UInt8]

  /// A pattern of these elements.
  public init(elements: [Element], terminator: [UInt8] = []) {
    self.elements = elements
    self.terminator = terminator
  }

  /// The bytes of `text`, in UTF-8, then `count` times `element`.
  public init(_ text: String, _ element: Element, count: Int = 1) {
    self.init(elements: text.utf8.map { .byte($0) } + Array(repeating: element, count: count))
  }

  /// The bytes of `text`, in UTF-8, and all up to `terminator` if there is one.
  public init(_ text: String, terminator: [UInt8] = []) {
    self.init(elements: text.utf8.map { .byte($0) }, terminator: terminator)
  }

  /// The fewest bytes of a reply.
  var minimumByteCount: Int { elements.count + terminator.count }
}

/// What ended a reply.
public struct ReplyEnd: Sendable, Hashable {
  /// The index of the pattern in the codec's list, or `nil` if it was silence.
  public var pattern: Int?

  /// An end. Ignored on encoding.
  @inlinable public init(pattern: Int? = nil) { self.pattern = pattern }
}
