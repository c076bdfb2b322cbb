// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The contents of the ten header bytes of an AF1 frame.
public struct AF1Header: Sendable, Hashable {
  /// The flag bits of a frame: the low half of its third byte.
  public struct Flags: OptionSet, Sendable, Hashable {
    /// The bits, 0…15.
    public let rawValue: UInt8

    /// Flags with these bits; those above the lowest four are dropped.
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }

    /// The sender waits for a reply.
    public static let replyWanted = Flags(rawValue: 1 << 0)
    /// The frame is the reply to a request.
    public static let reply = Flags(rawValue: 1 << 1)
    /// The request was refused; the payload is one reason byte.
    public static let refused = Flags(rawValue: 1 << 2)
    /// The frame is no reply: the accessory sent it of its own accord.
    public static let event = Flags(rawValue: 1 << 3)
  }

  /// The version that this codec speaks.
  public static let currentVersion: UInt8 = 1

  /// The framing's version, 0…15. Only the low four bits go on the wire.
  public var version: UInt8
  /// The flag bits.
  public var flags: Flags
  /// The command of the request, reply or event.
  public var command: AF1Command
  /// The number of a request. A sender counts its requests, and wraps after FFFF. A reply has the number of its
  /// request. Events are counted separately.
  public var number: UInt16
  /// The payload's length in bytes, as the header announces it. Filled on decoding, ignored on encoding.
  public var payloadLength: UInt16

  /// A header. `payloadLength` may stay zero, as encoding takes it from the payload.
  @inlinable
  public init(
    version: UInt8 = 1, flags: Flags, command: AF1Command, number: UInt16, payloadLength: UInt16 = 0
  ) {
    self.version = version
    self.flags = flags
    self.command = command
    self.number = number
    self.payloadLength = payloadLength
  }
}

extension AF1Header {
  /// The header of a request that wants a reply.
  public static func request(_ command: AF1Command, number: UInt16) -> AF1Header {
    AF1Header(flags: .replyWanted, command: command, number: number)
  }

  /// The header of the reply to `request`.
  public static func reply(to request: AF1Header) -> AF1Header {
    AF1Header(flags: .reply, command: request.command, number: request.number)
  }

  /// The header of the refusal of `request`; the payload is one `AF1RefusalReason`.
  public static func refusal(of request: AF1Header) -> AF1Header {
    AF1Header(flags: [.reply, .refused], command: request.command, number: request.number)
  }

  /// The header of an event.
  public static func event(_ command: AF1Command, number: UInt16) -> AF1Header {
    AF1Header(flags: .event, command: command, number: number)
  }
}

extension AF1Header {
  /// The bytes 0F F0 with which every frame begins, as a little-endian integer.
  static let sync: UInt16 = 0xF00F
  /// Bytes before the payload.
  static let byteCount = 10
  /// Bytes behind a payload that is not empty.
  static let trailerByteCount = 4

  /// Reads header bytes 2 to 7 from `word`: the first eight bytes of the frame, in little-endian order.
  @inline(__always)
  init(word: UInt64) {
    let third = UInt8(truncatingIfNeeded: word >> 16)
    version = third >> 4
    flags = Flags(rawValue: third)
    command = AF1Command(rawValue: UInt8(truncatingIfNeeded: word >> 24))
    number = UInt16(truncatingIfNeeded: word >> 32)
    payloadLength = UInt16(truncatingIfNeeded: word >> 48)
  }

  /// The first eight bytes as one little-endian word, for a payload of `length` bytes.
  @inline(__always)
  func word(length: UInt16) -> UInt64 {
    UInt64(Self.sync) | UInt64(version << 4 | flags.rawValue) << 16 | UInt64(command.rawValue) << 24
      | UInt64(number) << 32 | UInt64(length) << 48
  }

  /// The length of the whole frame, in bytes.
  @inline(__always)
  var frameByteCount: Int {
    payloadLength == 0 ? Self.byteCount : Self.byteCount + Int(payloadLength) + Self.trailerByteCount
  }
}

extension AF1Header {
  /// The tables of the header's checksum, CRC-16/IBM-3740.
  static let checksumTable = CRCTable.table(for: .crc16IBM3740)

  /// The checksum of a header's first eight bytes, given as one little-endian word. `table` has the entries of `checksumTable`.
  ///
  /// It reads without bounds checks. That is safe because a row number is below 8 and a column is a byte, and the table's size is
  /// checked.
  @inline(__always)
  static func checksum(of header: UInt64, _ table: Span<UInt32>) -> UInt16 {
    precondition(table.count >= 8 * 256)
    // The register starts as FFFF, which is combined with the first two bytes.
    let word = header ^ 0xFFFF
    var register: UInt32 = 0
    for place in 0..<8 {
      register ^= table[unchecked: (7 &- place) &<< 8 | Int(truncatingIfNeeded: word &>> UInt64(8 &* place) & 0xFF)]
    }
    return UInt16(truncatingIfNeeded: register >> 16)
  }
}
