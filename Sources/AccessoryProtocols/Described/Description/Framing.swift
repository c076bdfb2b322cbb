// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// How one kind of frame looks.
  public struct Framing: Sendable, Hashable {
    /// What the file calls it.
    public var name: String
    /// Its parts.
    public var form: Form
    /// Bytes of the longest frame, with all its parts; at most `Limit.frame`.
    public var limit = 512
    /// Whether such a frame may stand amid a frame of another kind, which goes on behind it as if nothing had been there.
    public var interrupts = false
    /// Bytes that count for nothing in what a frame carries, wherever they are. Only layouts of bytes have any.
    public var ignoredBytes: [UInt8] = []
    /// Texts that count for nothing there; dropped behind the bytes.
    public var ignoredTexts: [[UInt8]] = []

    /// A framing of these parts.
    public init(name: String, form: Form) { (self.name, self.form) = (name, form) }
  }

  /// The forms of frames.
  public enum Form: Sendable, Hashable {
    /// Elements one after another, as bytes.
    case layout([Element])
    /// Constants at the beginning and the end are bytes; all between is written in hexadecimal digits.
    case hexadecimal([Element], Hexadecimal)
    /// Frames of one length, known by bits that are always the same, as many bytes in both.
    case window(pattern: [UInt8], mask: [UInt8])
    /// Lines of a label and a value, closed by a label whose value is one byte.
    case pairs(Pairs)
  }

  /// How digits stand for bytes.
  public struct Hexadecimal: Sendable, Hashable {
    /// Whether the first byte has one digit only.
    public var beginsWithOneDigit = false
    /// Whether a check is over the digits as they are sent, and not over the bytes that they stand for.
    public var checksCoverDigits = false
    /// Whether a length counts digits, and not bytes.
    public var lengthCountsDigits = false
    /// Plain hexadecimal.
    public init() {}
  }

  /// A block of labels and values: `begin label separator value` again and again. The value behind the label `close` is
  /// one byte, with which the block ends, and which makes the sum of all its bytes 0 modulo 256.
  public struct Pairs: Sendable, Hashable {
    /// What stands in front of every label, such as CR LF.
    public var begin: [UInt8]
    /// What stands between label and value, such as TAB.
    public var separator: UInt8
    /// The label of the closing byte.
    public var close: [UInt8]
    /// A block of these parts.
    public init(begin: [UInt8], separator: UInt8, close: [UInt8]) {
      (self.begin, self.separator, self.close) = (begin, separator, close)
    }
  }

  /// A part of a frame.
  public struct Element: Sendable, Hashable {
    /// By what checks, conditions and requests refer to it; "" for constants that nobody refers to.
    public var name: String
    /// What it is.
    public var kind: Kind
    /// An element of this kind.
    public init(_ name: String, _ kind: Kind) { (self.name, self.kind) = (name, kind) }

    /// Kinds of elements.
    public enum Kind: Sendable, Hashable {
      /// Bytes that are always the same.
      case constant([UInt8])
      /// A number, such as a register, a status, an address.
      case number(NumberFormat)
      /// How long another part is: the number plus `adjust` is the count of bytes of the elements from … through, which
      /// contain the body. With `nibbleCheck` the highest digit of a 16-bit number makes the sum of its four hexadecimal
      /// digits 0 modulo 16, and isn't part of the count.
      case length(NumberFormat, of: ClosedRange<Int>, adjust: Int, nibbleCheck: Bool)
      /// What the frame carries: of a fixed count of bytes, or (nil) as many as a length says or as there are up to what
      /// stands behind it.
      case body(Int?)
      /// What protects the frame.
      case check(Check)
    }
  }

  /// A checksum.
  public struct Check: Sendable, Hashable {
    /// How it is worked out.
    public var algorithm: Algorithm
    /// The first and last of the elements that it covers, by their places in the layout.
    public var covers: ClosedRange<Int>
    /// The order of its bytes.
    public var order: ByteOrder
    /// How it is written.
    public var notation = Notation.bytes
    /// Whether it is there even if the body is empty.
    public var isPresentIfEmpty = true
    /// Bytes of the written check that are sent as one more, so that none of them is among these.
    public var bumped: [UInt8] = []
    /// A check of these parts.
    public init(_ algorithm: Algorithm, covers: ClosedRange<Int>, order: ByteOrder = .bigEndian) {
      (self.algorithm, self.covers, self.order) = (algorithm, covers, order)
    }

    /// How a check is written.
    public enum Notation: Sendable, Hashable {
      /// As its bytes.
      case bytes
      /// In so many upper-case hexadecimal digits as its bytes need.
      case hexadecimal
      /// In decimal, of 1 to 3 digits; for checks of one byte, as the last element in front of the end.
      case decimal
    }

    /// Checksums by the names that descriptions use.
    public enum Algorithm: Sendable, Hashable {
      /// What framings in Swift can have, too.
      case frame(FrameChecksum)
      /// What makes the plain sum of all and itself 0x55 modulo 256.
      case sumTo55
      /// The plain sum in 2 bytes.
      case sum16
      /// The plain sum in 4 bytes.
      case sum32
      /// 65,536 less the plain sum, modulo 65,536, in 2 bytes.
      case negatedSum16
      /// Bytes that it takes, before any notation.
      public var byteCount: Int {
        switch self {
        case .frame(let checksum): checksum.byteCount
        case .sumTo55: 1
        case .sum16, .negatedSum16: 2
        case .sum32: 4
        }
      }
    }
  }

  /// How a number stands in bytes.
  public struct NumberFormat: Sendable, Hashable {
    /// Its count of bytes, 1…8.
    public var byteCount: Int
    /// Which byte comes first.
    public var order: ByteOrder
    /// What the bits mean.
    public var encoding: Encoding
    /// Whether the words, of two bytes each, are sent the other way round than `order` says, as some registers are.
    public var hasWordsSwapped = false
    /// A number of this form.
    public init(byteCount: Int, order: ByteOrder = .bigEndian, encoding: Encoding = .unsigned) {
      (self.byteCount, self.order, self.encoding) = (byteCount, order, encoding)
    }

    /// By how many bits byte `index` is shifted.
    @inline(__always)
    func shift(ofByte index: Int) -> UInt64 {
      // Word by word from the end; both bytes of a word stay as they are.
      let index = hasWordsSwapped ? byteCount - 2 - (index & ~1) + (index & 1) : index
      return UInt64(order.shift(ofByte: index, of: byteCount))
    }

    /// What a number's bits mean.
    public enum Encoding: Sendable, Hashable {
      /// A number from 0 on.
      case unsigned
      /// Two's complement.
      case signed
      /// The highest bit is the sign, the others the amount.
      case signMagnitude
      /// A decimal digit in every half of a byte.
      case bcd
      /// IEEE 754, of 4 or 8 bytes.
      case float
    }
  }
}
