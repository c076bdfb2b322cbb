// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// TRANSFER_BEGIN: announces a file.
public struct AF1TransferBeginRequest: AF1Payload {
  /// The kind of a file. Values without a name here are kept as they are.
  public struct Kind: RawRepresentable, Sendable, Hashable {
    /// The byte on the wire.
    public var rawValue: UInt8
    /// The kind with this byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Software for the accessory.
    public static let firmware = Kind(rawValue: 1)
    /// A picture.
    public static let image = Kind(rawValue: 2)
    /// Anything else.
    public static let other = Kind(rawValue: 3)
  }

  /// The kind of the file.
  public var kind: Kind
  /// The size of the file in bytes.
  public var size: UInt32
  /// The CRC-32/ISO-HDLC of the whole file.
  public var checksum: UInt32
  /// The file's name, at most `AF1Identity.longestText` bytes of UTF-8; may be empty.
  public var name: String

  /// A request with these values.
  public init(kind: Kind, size: UInt32, checksum: UInt32, name: String) {
    self.kind = kind
    self.size = size
    self.checksum = checksum
    self.name = name
  }

  /// Reads a request; invalid UTF-8 in the name is repaired with U+FFFD.
  ///
  /// - Throws: `AF1PayloadError.tooShort` below nine bytes; `AF1PayloadError.textTooLong` or
  ///   `AF1PayloadError.textContainsZero` for the name.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    try payload.require(9)
    kind = Kind(rawValue: payload.byte(at: 0))
    size = payload.load(littleEndianAt: 1, as: UInt32.self)
    checksum = payload.load(littleEndianAt: 5, as: UInt32.self)
    name = try payload.text(9..<payload.byteCount)
    guard !name.utf8.contains(0) else { throw .textContainsZero }
  }

  /// Appends nine bytes and the name.
  ///
  /// - Throws: `AF1PayloadError.textTooLong` or `AF1PayloadError.textContainsZero`.
  public func encode(into output: inout [UInt8]) throws(AF1PayloadError) {
    try AF1Text.check(name)
    output.append(kind.rawValue)
    output.append(littleEndian: size)
    output.append(littleEndian: checksum)
    output.append(contentsOf: name.utf8)
  }
}

/// The reply to TRANSFER_BEGIN.
public struct AF1TransferBeginReply: AF1Payload {
  /// The most bytes of the file that one TRANSFER_DATA may carry.
  public var chunkSize: UInt16
  /// Where in the file to begin, in bytes; above 0 if the accessory already has the beginning.
  public var resumeOffset: UInt32

  /// A reply with these values.
  public init(chunkSize: UInt16, resumeOffset: UInt32) {
    self.chunkSize = chunkSize
    self.resumeOffset = resumeOffset
  }

  /// Reads a reply; bytes behind the sixth are ignored.
  ///
  /// - Throws: `AF1PayloadError.tooShort` if there are fewer than six.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    try payload.require(6)
    chunkSize = payload.load(littleEndianAt: 0, as: UInt16.self)
    resumeOffset = payload.load(littleEndianAt: 2, as: UInt32.self)
  }

  /// Appends the six bytes.
  public func encode(into output: inout [UInt8]) {
    output.append(littleEndian: chunkSize)
    output.append(littleEndian: resumeOffset)
  }
}

/// TRANSFER_DATA: carries one piece of a file.
public struct AF1TransferDataRequest: AF1Payload {
  /// Where in the file the piece lies, in bytes.
  public var offset: UInt32
  /// The piece.
  public var data: [UInt8]

  /// A request with these values.
  public init(offset: UInt32, data: [UInt8]) {
    self.offset = offset
    self.data = data
  }

  /// Reads a request; the piece may be empty.
  ///
  /// - Throws: `AF1PayloadError.tooShort` if there are fewer than four bytes.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    try payload.require(4)
    offset = payload.load(littleEndianAt: 0, as: UInt32.self)
    data = [UInt8](copying: payload.extracting(4..<payload.byteCount))
  }

  /// Appends four bytes and the piece.
  public func encode(into output: inout [UInt8]) {
    output.append(littleEndian: offset)
    output.append(contentsOf: data)
  }
}

/// The reply to TRANSFER_DATA.
public struct AF1TransferDataReply: AF1Payload {
  /// Where in the file the accessory wants the next piece to begin, in bytes.
  public var nextOffset: UInt32

  /// A reply with this offset.
  public init(nextOffset: UInt32) { self.nextOffset = nextOffset }

  /// Reads a reply; bytes behind the fourth are ignored.
  ///
  /// - Throws: `AF1PayloadError.tooShort` if there are fewer than four.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    try payload.require(4)
    nextOffset = payload.load(littleEndianAt: 0, as: UInt32.self)
  }

  /// Appends the four bytes.
  public func encode(into output: inout [UInt8]) { output.append(littleEndian: nextOffset) }
}

/// The reply to TRANSFER_END.
public enum AF1TransferEndReply: UInt8, AF1Payload, CaseIterable {
  /// The file is stored.
  case stored = 0
  /// The checksum of the received file differs from the announced one.
  case checksumDiffers = 1
  /// The size of the received file differs from the announced one.
  case sizeDiffers = 2

  /// Reads a reply; bytes behind the first are ignored.
  ///
  /// - Throws: `AF1PayloadError.tooShort` if the payload is empty, `AF1PayloadError.unknownValue` for an unknown
  ///   result: to treat it as success or failure would be a guess.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    try payload.require(1)
    guard let known = Self(rawValue: payload.byte(at: 0)) else { throw .unknownValue(payload.byte(at: 0)) }
    self = known
  }

  /// Appends the byte.
  public func encode(into output: inout [UInt8]) { output.append(rawValue) }
}
