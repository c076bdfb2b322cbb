// SPDX-License-Identifier: Apache-2.0

/// The format of frames that begin with sync bytes and a header with a length, as in most binary protocols: sync bytes,
/// header, payload, and checksums of either. All offsets count bytes from the first sync byte.
///
/// UBX, for instance, is
///
///     HeaderFormat(
///       sync: [0xB5, 0x62], headerByteCount: 6, length: .init(offset: 4),
///       payloadChecksum: .init(.fletcher8, coveredHeader: 2..<6))
public struct HeaderFormat: Sendable, Hashable {
  /// The bytes that every frame begins with, 1…4.
  public var sync: [UInt8]
  /// The length of the header in bytes, from the first sync byte to the last byte before the payload; at most 32.
  public var headerByteCount: Int
  /// The length field.
  public var length: LengthField
  /// The checksum of the header; nil if there is none. It must cover the length.
  public var headerChecksum: HeaderChecksum?
  /// The checksum of the payload; nil if there is none.
  public var payloadChecksum: PayloadChecksum?
  /// Bits that must have a fixed value; nil if there are none. A frame with other bits and a right header checksum is
  /// reported as `FrameOutcome.otherVersion`; without a header checksum its start counts as noise.
  public var version: VersionField?

  /// A format. The parameters are only checked when a codec is made.
  public init(
    sync: [UInt8], headerByteCount: Int, length: LengthField, headerChecksum: HeaderChecksum? = nil,
    payloadChecksum: PayloadChecksum? = nil, version: VersionField? = nil
  ) {
    self.sync = sync
    self.headerByteCount = headerByteCount
    self.length = length
    self.headerChecksum = headerChecksum
    self.payloadChecksum = payloadChecksum
    self.version = version
  }
}

extension HeaderFormat {
  /// The length field of a header.
  public struct LengthField: Sendable, Hashable {
    /// Which bytes a length counts.
    public enum Counts: UInt8, Sendable, Hashable {
      /// The payload alone.
      case payload
      /// The payload and the checksum behind it, if there is one.
      case payloadAndTrailer
      /// Everything from the first sync byte to the last byte of the frame.
      case frame
    }

    /// The offset of its first byte.
    public var offset: Int
    /// Its width in bytes, 1…4.
    public var byteCount: Int
    /// Its byte order.
    public var byteOrder: ByteOrder
    /// Which bytes it counts.
    public var counts: Counts
    /// What is added to the field's value to get the number of bytes, −65536…65536: 1 if the field is one less than the
    /// length.
    public var bias: Int

    /// A length field.
    public init(
      offset: Int, byteCount: Int = 2, byteOrder: ByteOrder = .littleEndian, counts: Counts = .payload, bias: Int = 0
    ) {
      self.offset = offset
      self.byteCount = byteCount
      self.byteOrder = byteOrder
      self.counts = counts
      self.bias = bias
    }
  }

  /// A checksum in the header, which covers bytes of the header.
  public struct HeaderChecksum: Sendable, Hashable {
    /// The algorithm.
    public var checksum: FrameChecksum
    /// The offset of its first byte.
    public var offset: Int
    /// Its byte order.
    public var byteOrder: ByteOrder
    /// The bytes that it covers, which don't include itself.
    public var covers: Range<Int>

    /// A checksum of the header.
    public init(_ checksum: FrameChecksum, offset: Int, byteOrder: ByteOrder = .littleEndian, covers: Range<Int>) {
      self.checksum = checksum
      self.offset = offset
      self.byteOrder = byteOrder
      self.covers = covers
    }
  }

  /// A checksum of the payload, which may also cover bytes of the header.
  public struct PayloadChecksum: Sendable, Hashable {
    /// Where a checksum of the payload is.
    public enum Position: Sendable, Hashable {
      /// Right behind the payload.
      case behindPayload
      /// In the header, from this offset on.
      case inHeader(offset: Int)
    }

    /// The algorithm.
    public var checksum: FrameChecksum
    /// Where the checksum is.
    public var position: Position
    /// Its byte order.
    public var byteOrder: ByteOrder
    /// The bytes of the header that it covers before the payload; often none.
    public var coveredHeader: Range<Int>
    /// Whether the checksum is present even if the payload is empty.
    ///
    /// If not, a checksum in the header is sent as zero for an empty payload, and ignored by the receiver.
    public var isPresentIfEmpty: Bool

    /// A checksum of the payload.
    public init(
      _ checksum: FrameChecksum, position: Position = .behindPayload, byteOrder: ByteOrder = .littleEndian,
      coveredHeader: Range<Int> = 0..<0, isPresentIfEmpty: Bool = true
    ) {
      self.checksum = checksum
      self.position = position
      self.byteOrder = byteOrder
      self.coveredHeader = coveredHeader
      self.isPresentIfEmpty = isPresentIfEmpty
    }
  }

  /// Bits of one header byte that must have a fixed value.
  public struct VersionField: Sendable, Hashable {
    /// The offset of the byte.
    public var offset: Int
    /// The bits that are compared.
    public var mask: UInt8
    /// The value of these bits; other bits are ignored.
    public var value: UInt8

    /// Bits that must be the same as in `value`.
    public init(offset: Int, mask: UInt8 = 0xFF, value: UInt8) {
      self.offset = offset
      self.mask = mask
      self.value = value
    }
  }
}
