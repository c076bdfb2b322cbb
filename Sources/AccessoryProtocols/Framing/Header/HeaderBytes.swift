// SPDX-License-Identifier: Apache-2.0

/// The bytes of a header as they are on the wire, from the first sync byte on.
///
/// There is always room for `capacity` bytes; those behind the header are zero. Encoding fills in the sync bytes, the
/// length and the checksums, so only the other fields of a protocol need to be set.
public struct HeaderBytes: Sendable, Hashable {
  /// The longest header, in bytes.
  public static let capacity = 32

  private var storage = SIMD32<UInt8>()

  /// A header of zeros.
  public init() {}

  /// A header that begins with `bytes`.
  ///
  /// - Precondition: There are at most `capacity` bytes.
  public init(_ bytes: [UInt8]) {
    precondition(bytes.count <= Self.capacity, "a header has at most 32 bytes")
    for (index, byte) in bytes.enumerated() { storage[index] = byte }
  }

  /// A header of zeros except for one byte, 0..<`capacity` bytes from its start. It suits protocols whose header has
  /// only a command besides the fields that encoding fills in.
  public init(_ byte: UInt8, at offset: Int) { storage[offset] = byte }

  /// A header with the `count` bytes at `offset` of `bytes`.
  init(copying bytes: RawSpan, at offset: Int, count: Int) {
    for index in 0..<count { storage[index] = bytes.byte(at: offset + index) }
  }

  /// The byte at `offset`, 0..<`capacity`.
  public subscript(offset: Int) -> UInt8 {
    get { storage[offset] }
    set { storage[offset] = newValue }
  }

  /// The unsigned integer of `byteCount` bytes, 1…4, at `offset`.
  public func integer(at offset: Int, byteCount: Int, _ order: ByteOrder = .littleEndian) -> UInt32 {
    precondition((1...4).contains(byteCount), "an integer in a header has 1 to 4 bytes")
    var value: UInt32 = 0
    for index in 0..<byteCount {
      value |= UInt32(storage[offset + index]) << UInt32(order.shift(ofByte: index, of: byteCount))
    }
    return value
  }

  /// The first `count` bytes.
  public func prefix(_ count: Int) -> [UInt8] { (0..<count).map { storage[$0] } }
}
