// SPDX-License-Identifier: Apache-2.0

// Copies between arrays and raw spans of bytes. Only this file copies through pointers.

extension [UInt8] {
  /// A copy of `bytes`.
  @inlinable package init(copying bytes: RawSpan) {
    self = []
    append(contentsOf: bytes)
  }

  /// Appends a copy of `bytes`.
  @inlinable package mutating func append(contentsOf bytes: RawSpan) {
    if bytes.isEmpty { return }
    bytes.withUnsafeBytes { append(contentsOf: $0) }
  }

  /// Appends `value`, least significant byte first.
  @inlinable package mutating func append<Value: FixedWidthInteger>(littleEndian value: Value) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }
}

extension RawSpan {
  /// The integer at `offset`, least significant byte first.
  ///
  /// - Precondition: all its bytes lie within the span.
  @inlinable @inline(__always)
  package func load<Value: FixedWidthInteger & BitwiseCopyable>(littleEndianAt offset: Int, as type: Value.Type)
    -> Value
  {
    Value(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  /// The byte at `offset`.
  ///
  /// - Precondition: `offset` lies within the span.
  @inlinable @inline(__always)
  package func byte(at offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  /// The byte at `offset`.
  ///
  /// - Precondition: The caller has checked that `offset` is within the span.
  @inlinable @inline(__always)
  package func byte(uncheckedAt offset: Int) -> UInt8 {
    unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// The eight bytes at `offset`, least significant first.
  ///
  /// - Precondition: The caller has checked that `offset` + 8 is at most the span's count.
  @inlinable @inline(__always)
  package func word(uncheckedAt offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
  }

  /// The four bytes at `offset`, least significant first.
  ///
  /// - Precondition: The caller has checked that `offset` + 4 is at most the span's count.
  @inlinable @inline(__always)
  package func halfWord(uncheckedAt offset: Int) -> UInt32 {
    UInt32(littleEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self))
  }

  /// Whether the span begins with these bytes.
  package func starts(with bytes: [UInt8]) -> Bool {
    guard byteCount >= bytes.count else { return false }
    for (offset, wanted) in bytes.enumerated() where byte(uncheckedAt: offset) != wanted { return false }
    return true
  }
}
