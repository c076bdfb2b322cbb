// SPDX-License-Identifier: Apache-2.0

/// The form of one kind of reply, for devices whose replies have no terminator.
///
/// A pattern is a list of elements, one for each byte, and optionally a terminator. With a terminator, any bytes may
/// follow the elements, up to and including the terminator. `ReplyPattern("OK+ADDR:", .hexDigit, count: 12)` is a
/// module's reply with its address, `ReplyPattern("OK+NAME:", terminator: [0x0D, 0x0A])` one with its name.
public struct ReplyPattern: Sendable, Hashable {
  /// The bytes that are allowed at one position of a reply.
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
    package func matches(_ byte: UInt8) -> Bool {
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

  /// The first bytes of the reply; without a terminator, all of its bytes.
  public var elements: [Element]
  /// The bytes that end the reply, behind the elements and any other bytes; if empty, the elements are the whole reply.
  public var terminator: [UInt8]

  /// A pattern of these elements.
  public init(elements: [Element], terminator: [UInt8] = []) {
    self.elements = elements
    self.terminator = terminator
  }

  /// A pattern of the bytes of `text`, in UTF-8, and `count` times `element`.
  public init(_ text: String, _ element: Element, count: Int = 1) {
    self.init(elements: text.utf8.map { .byte($0) } + Array(repeating: element, count: count))
  }

  /// A pattern of the bytes of `text`, in UTF-8. If there is a `terminator`, any bytes up to it follow.
  public init(_ text: String, terminator: [UInt8] = []) {
    self.init(elements: text.utf8.map { .byte($0) }, terminator: terminator)
  }

  /// The fewest bytes of a reply.
  var minimumByteCount: Int { elements.count + terminator.count }
}

/// How a reply ended.
public struct ReplyEnd: Sendable, Hashable {
  /// The index of the matching pattern in the codec's list; `nil` if silence ended the reply.
  public var pattern: Int?

  /// The end of a reply. Ignored on encoding.
  @inlinable public init(pattern: Int? = nil) { self.pattern = pattern }
}
