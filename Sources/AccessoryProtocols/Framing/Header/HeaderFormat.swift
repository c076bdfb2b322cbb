// SPDX-License-Identifier: Apache-2.0

/// The form of a frame that begins with sync bytes and a header with a length, as most binary protocols have it:
/// sync, header, payload, and checksums over either. All offsets count bytes from the first sync byte.
///
/// UBX, for instance, is
///
///     HeaderFormat(
///       sync: [0xB5, 0x62], headerByteCount: 6, length: .init(offset: 4),
///       payloadChecksum: .init(.fletcher8, coveredHeader: 2..<6))
public struct HeaderFormat: Sendable, Hashable {
  /// The bytes with which every frame begins, 1…4.
  public var sync: [UInt8]
  /// How long the header is, from the first sync byte to the last byte before the payload; at most 32 bytes.
  public var headerByteCount: Int
  /// Where the length is and what it counts.
  public var length: LengthField
  /// What protects the header. It must cover the length.
  public var headerChecksum: HeaderChecksum?
  /// What protects the payload.
  public var payloadChecksum: PayloadChecksum?
  /// Bits that must have one value. A frame whose header checksum is good but which has others is reported as
  /// `FrameOutcome.otherVersion`; without a header checksum its start counts as noise.
  public var version: VersionField?

  /// A form. Nothing is checked before a codec is made of it.
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
    /// What a length counts, in bytes.
    public enum Counts: UInt8, Sendable, Hashable {
      /// The payload alone.
      case payload
      /// The payload and the checksum behind it, if there is one.
      case payloadAndTrailer
      /// Everything from the first sync byte to the last byte of the frame.
      case frame
    }

    /// Where it begins.
    public var offset: Int
    /// Its width in bytes, 1…4.
    public var byteCount: Int
    /// Its byte order.
    public var byteOrder: ByteOrder
    /// What it counts.
    public var counts: Counts
    /// What is added to the field's value to give the number of bytes, −65536…65536: 1 where the field has one less.
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

  /// A checksum in the header over bytes of the header.
  public struct HeaderChecksum: Sendable, Hashable {
    /// The algorithm.
    public var checksum: FrameChecksum
    /// Where it begins.
    public var offset: Int
    /// Its byte order.
    public var byteOrder: ByteOrder
    /// The bytes it covers; itself not among them.
    public var covers: Range<Int>

    /// A checksum over the header.
    public init(_ checksum: FrameChecksum, offset: Int, byteOrder: ByteOrder = .littleEndian, covers: Range<Int>) {
      self.checksum = checksum
      self.offset = offset
      self.byteOrder = byteOrder
      self.covers = covers
    }
  }

  /// A checksum over the payload, and over bytes of the header if so wished.
  public struct PayloadChecksum: Sendable, Hashable {
    /// Where a checksum over the payload is.
    public enum Position: Sendable, Hashable {
      /// Right behind the payload.
      case behindPayload
      /// In the header, from this offset on.
      case inHeader(offset: Int)
    }

    /// The algorithm.
    public var checksum: FrameChecksum
    /// Where it is.
    public var position: Position
    /// Its byte order.
    public var byteOrder: ByteOrder
    /// The bytes of the header that it takes in before the payload; often none.
    public var coveredHeader: Range<Int>
    /// Whether it is there even if the payload is empty.
    ///
    /// If not, a field in the header is still there, but is sent as zero and not looked at.
    public var isPresentIfEmpty: Bool

    /// A checksum over the payload.
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

  /// Bits of one header byte that must have one value.
  public struct VersionField: Sendable, Hashable {
    /// Which byte.
    public var offset: Int
    /// Which of its bits.
    public var mask: UInt8
    /// What these bits must be; the others are ignored.
    public var value: UInt8

    /// Bits that must be as in `value`.
    public init(offset: Int, mask: UInt8 = 0xFF, value: UInt8) {
      self.offset = offset
      self.mask = mask
      self.value = value
    }
  }
}
