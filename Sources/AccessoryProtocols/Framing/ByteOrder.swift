// SPDX-License-Identifier: Apache-2.0

/// The order in which the bytes of an integer are sent.
public enum ByteOrder: UInt8, Sendable, Hashable {
  /// Least significant byte first.
  case littleEndian
  /// Most significant byte first.
  case bigEndian
}

extension ByteOrder {
  /// By how many bits byte `index` is shifted in an integer of `byteCount` bytes.
  @inlinable @inline(__always)
  package func shift(ofByte index: Int, of byteCount: Int) -> Int {
    8 * (self == .littleEndian ? index : byteCount - 1 - index)
  }
}

extension RawSpan {
  /// The unsigned integer of `byteCount` bytes, 1…4, at `offset`.
  @inlinable @inline(__always)
  package func integer(at offset: Int, byteCount: Int, _ order: ByteOrder) -> UInt32 {
    var value: UInt32 = 0
    for index in 0..<byteCount {
      value |= UInt32(byte(at: offset + index)) << UInt32(order.shift(ofByte: index, of: byteCount))
    }
    return value
  }
}

extension [UInt8] {
  /// Overwrites `byteCount` bytes, 1…4, from `offset` on with the lowest bytes of `value`.
  mutating func set(_ value: UInt32, at offset: Int, byteCount: Int, _ order: ByteOrder) {
    for index in 0..<byteCount {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(order.shift(ofByte: index, of: byteCount)))
    }
  }

  /// Appends the lowest `byteCount` bytes, 1…4, of `value`.
  mutating func append(_ value: UInt32, byteCount: Int, _ order: ByteOrder) {
    for index in 0..<byteCount {
      append(UInt8(truncatingIfNeeded: value >> UInt32(order.shift(ofByte: index, of: byteCount))))
    }
  }
}
