// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

extension ProtocolDescription {
  /// The layout of one kind of frame.
  public struct Framing: Sendable, Hashable {
    /// The name in the description.
    public var name: String
    /// The form of the frames, with their parts.
    public var form: Form
    /// The length of the longest frame in bytes, with all its parts; at most `Limit.frame`.
    public var limit = 512
    /// Whether such a frame may interrupt a frame of another kind, which continues behind it.
    public var interrupts = false
    /// Which way such frames go.
    public var direction = Direction.both
    /// Bytes that are ignored anywhere in a frame's body. Only layouts of bytes have any.
    public var ignoredBytes: [UInt8] = []
    /// Texts that are ignored in a frame's body. They are removed after the ignored bytes.
    public var ignoredTexts: [[UInt8]] = []

    /// A framing of these parts.
    public init(name: String, form: Form) { (self.name, self.form) = (name, form) }
  }

  /// Which way frames of a framing go.
  public enum Direction: String, Sendable, Hashable, CaseIterable {
    /// Only to the accessory.
    case toDevice = "to_device"
    /// Only from the accessory.
    case fromDevice = "from_device"
    /// Both ways.
    case both

    /// Whether a codec on this side of the line receives such frames.
    public func isReceived(on side: DescribedCodec.Side) -> Bool {
      switch self {
      case .toDevice: side == .accessory
      case .fromDevice: side == .host
      case .both: true
      }
    }
  }

  /// The forms of frames.
  public enum Form: Sendable, Hashable {
    /// Elements one after another, as bytes.
    case layout([Element])
    /// Constants at the beginning and the end, as bytes; everything between them is written in hexadecimal digits.
    case hexadecimal([Element], Hexadecimal)
    /// Frames of one length, recognised by the bits of `mask`, which are the same as in `pattern`. Both have as many
    /// bytes as a frame.
    case window(pattern: [UInt8], mask: [UInt8])
    /// Lines of a label and a value. The last line has a label of its own, and its value is one byte.
    case pairs(Pairs)
  }

  /// How hexadecimal digits stand for bytes.
  public struct Hexadecimal: Sendable, Hashable {
    /// Whether the first byte has only one digit.
    public var beginsWithOneDigit = false
    /// Whether a check covers the digits as they are sent, and not the bytes for which they stand.
    public var checksCoverDigits = false
    /// Whether a length counts digits and not bytes.
    public var lengthCountsDigits = false
    /// Plain hexadecimal: two digits for each byte.
    public init() {}
  }

  /// A block of labels and values: `begin label separator value`, repeated. The last label is `close`. Its value is the
  /// last byte of the block, and makes the sum of all bytes of the block 0 modulo 256.
  public struct Pairs: Sendable, Hashable {
    /// The bytes in front of every label, such as CR LF.
    public var begin: [UInt8]
    /// The byte between label and value, such as TAB.
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
    /// The name by which checks, conditions and requests refer to the element; "" for constants to which nothing
    /// refers.
    public var name: String
    /// The kind of the element.
    public var kind: Kind
    /// An element of this kind.
    public init(_ name: String, _ kind: Kind) { (self.name, self.kind) = (name, kind) }

    /// The kinds of elements.
    public enum Kind: Sendable, Hashable {
      /// Bytes that are always the same.
      case constant([UInt8])
      /// A number, such as a register, a status, an address.
      case number(NumberFormat)
      /// A length: the number plus `adjust` is the count of bytes of the elements `of`, which include the body. With
      /// `nibbleCheck` the highest digit of a 16-bit number makes the sum of its four hexadecimal digits 0 modulo 16,
      /// and isn't part of the count.
      case length(NumberFormat, of: ClosedRange<Int>, adjust: Int, nibbleCheck: Bool)
      /// The body: of a fixed count of bytes or, with nil, of as many bytes as a length field says or as there are up
      /// to the frame's end.
      case body(Int?)
      /// A check of other elements.
      case check(Check)
    }
  }

  /// A checksum.
  public struct Check: Sendable, Hashable {
    /// How the check is calculated.
    public var algorithm: Algorithm
    /// The first and last of the elements that the check covers, by their index in the layout.
    public var covers: ClosedRange<Int>
    /// The order of its bytes.
    public var order: ByteOrder
    /// How the check is written.
    public var notation = Notation.bytes
    /// Whether the check is present even if the body is empty.
    public var isPresentIfEmpty = true
    /// Values that no byte of the written check may have; each is sent as the next higher value.
    public var incrementedBytes: [UInt8] = []
    /// A check of these parts.
    public init(_ algorithm: Algorithm, covers: ClosedRange<Int>, order: ByteOrder = .bigEndian) {
      (self.algorithm, self.covers, self.order) = (algorithm, covers, order)
    }

    /// How a check is written.
    public enum Notation: Sendable, Hashable {
      /// As its bytes.
      case bytes
      /// In upper-case hexadecimal digits, two for each byte.
      case hexadecimal
      /// In 1 to 3 decimal digits. Only for checks of one byte, as the last element in front of the end.
      case decimal
    }

    /// The checksums that descriptions can name.
    public enum Algorithm: Sendable, Hashable {
      /// A checksum that framings in Swift can have, too.
      case frame(FrameChecksum)
      /// One byte, which makes the sum of all bytes and itself 0x55 modulo 256.
      case sumTo55
      /// One byte, which makes the sum of all bytes and itself 0xFF modulo 256.
      case sumToFF
      /// The sum of all bytes, in 2 bytes.
      case sum16
      /// The sum of all bytes, in 4 bytes.
      case sum32
      /// The negated sum of all bytes, modulo 65,536, in 2 bytes.
      case negatedSum16
      /// How many bytes the checksum has, before any notation.
      public var byteCount: Int {
        switch self {
        case .frame(let checksum): checksum.byteCount
        case .sumTo55, .sumToFF: 1
        case .sum16, .negatedSum16: 2
        case .sum32: 4
        }
      }
    }
  }

  /// How a number is encoded in bytes.
  public struct NumberFormat: Sendable, Hashable {
    /// The number of bytes, 1…8.
    public var byteCount: Int
    /// The order of the bytes.
    public var order: ByteOrder
    /// What the bits mean.
    public var encoding: Encoding
    /// Whether the words, of two bytes each, are sent in the opposite order of the bytes within them, as in some
    /// registers.
    public var hasWordsSwapped = false
    /// A number format with these properties.
    public init(byteCount: Int, order: ByteOrder = .bigEndian, encoding: Encoding = .unsigned) {
      (self.byteCount, self.order, self.encoding) = (byteCount, order, encoding)
    }

    /// By how many bits byte `index` is shifted in the number.
    @inline(__always)
    func shift(ofByte index: Int) -> UInt64 {
      // Reverses the order of the words, and keeps the order of the two bytes in each word.
      let index = hasWordsSwapped ? byteCount - 2 - (index & ~1) + (index & 1) : index
      return UInt64(order.shift(ofByte: index, of: byteCount))
    }

    /// What a number's bits mean.
    public enum Encoding: Sendable, Hashable {
      /// An unsigned number.
      case unsigned
      /// Two's complement.
      case signed
      /// The highest bit is the sign, the others are the absolute value.
      case signMagnitude
      /// Binary-coded decimal: one decimal digit in each half of a byte.
      case bcd
      /// IEEE 754, of 4 or 8 bytes.
      case float
    }
  }
}
