// SPDX-License-Identifier: Apache-2.0

/// The inner loops of the checksums.
///
/// They read without bounds checks. That is safe because every data offset stays below the span's own count, and every
/// table index is a row number below `CRCTable.slices` and a byte; the table's size is checked once at each entry.
enum CRCKernels {
  /// Takes `bytes` into the register of a reflected algorithm.
  @inline(__always)
  static func reflected(_ register: UInt32, _ bytes: RawSpan, _ table: Span<UInt32>) -> UInt32 {
    precondition(table.count == CRCTable.slices * 256)
    var register = register
    var offset = 0
    let count = bytes.byteCount
    while count &- offset >= 16 {
      let low = word(bytes, offset) ^ UInt64(register)
      let high = word(bytes, offset &+ 8)
      // Two chains, so that the lookups of the second word need not wait for the first.
      let first =
        entry(table, 15, low) ^ entry(table, 14, low >> 8) ^ entry(table, 13, low >> 16) ^ entry(table, 12, low >> 24)
        ^ entry(table, 11, low >> 32) ^ entry(table, 10, low >> 40) ^ entry(table, 9, low >> 48)
        ^ entry(table, 8, low >> 56)
      let second =
        entry(table, 7, high) ^ entry(table, 6, high >> 8) ^ entry(table, 5, high >> 16) ^ entry(table, 4, high >> 24)
        ^ entry(table, 3, high >> 32) ^ entry(table, 2, high >> 40) ^ entry(table, 1, high >> 48)
        ^ entry(table, 0, high >> 56)
      register = first ^ second
      offset &+= 16
    }
    while offset < count {
      register = register >> 8 ^ entry(table, 0, UInt64(register) ^ UInt64(byte(bytes, offset)))
      offset &+= 1
    }
    return register
  }

  /// Takes `bytes` into the register of an algorithm that is not reflected; the register is at the high end.
  @inline(__always)
  static func forward(_ register: UInt32, _ bytes: RawSpan, _ table: Span<UInt32>) -> UInt32 {
    precondition(table.count == CRCTable.slices * 256)
    var register = register
    var offset = 0
    let count = bytes.byteCount
    while count &- offset >= 16 {
      let low = word(bytes, offset) ^ UInt64(register.byteSwapped)
      let high = word(bytes, offset &+ 8)
      let first =
        entry(table, 15, low) ^ entry(table, 14, low >> 8) ^ entry(table, 13, low >> 16) ^ entry(table, 12, low >> 24)
        ^ entry(table, 11, low >> 32) ^ entry(table, 10, low >> 40) ^ entry(table, 9, low >> 48)
        ^ entry(table, 8, low >> 56)
      let second =
        entry(table, 7, high) ^ entry(table, 6, high >> 8) ^ entry(table, 5, high >> 16) ^ entry(table, 4, high >> 24)
        ^ entry(table, 3, high >> 32) ^ entry(table, 2, high >> 40) ^ entry(table, 1, high >> 48)
        ^ entry(table, 0, high >> 56)
      register = first ^ second
      offset &+= 16
    }
    while offset < count {
      register = register << 8 ^ entry(table, 0, UInt64(register >> 24) ^ UInt64(byte(bytes, offset)))
      offset &+= 1
    }
    return register
  }

  /// CRC-16/IBM-3740 over eight bytes, given as one little-endian word; `table` is that algorithm's.
  @inline(__always)
  static func ibm3740(_ header: UInt64, _ table: Span<UInt32>) -> UInt16 {
    precondition(table.count == CRCTable.slices * 256)
    // The register starts as FFFF, which meets the first two bytes.
    let word = header ^ 0xFFFF
    let register =
      entry(table, 7, word) ^ entry(table, 6, word >> 8) ^ entry(table, 5, word >> 16) ^ entry(table, 4, word >> 24)
      ^ entry(table, 3, word >> 32) ^ entry(table, 2, word >> 40) ^ entry(table, 1, word >> 48)
      ^ entry(table, 0, word >> 56)
    return UInt16(truncatingIfNeeded: register >> 16)
  }

  /// The index of the first byte equal to `wanted` from `start` on, or the span's count.
  @inline(__always)
  static func firstIndex(of wanted: UInt8, in bytes: RawSpan, from start: Int) -> Int {
    precondition(start >= 0)
    let count = bytes.byteCount
    let pattern = UInt64(wanted) &* 0x0101_0101_0101_0101
    var offset = start
    while count &- offset >= 8 {
      // The lowest flag of the classic zero-byte test is exact, and only the lowest is used.
      let difference = word(bytes, offset) ^ pattern
      let flags = (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
      if flags != 0 { return offset &+ flags.trailingZeroBitCount >> 3 }
      offset &+= 8
    }
    while offset < count {
      if byte(bytes, offset) == wanted { return offset }
      offset &+= 1
    }
    return count
  }

  @inline(__always)
  private static func entry(_ table: Span<UInt32>, _ row: Int, _ bits: UInt64) -> UInt32 {
    table[unchecked: row &<< 8 | Int(truncatingIfNeeded: bits & 0xFF)]
  }

  @inline(__always)
  private static func byte(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
    bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  @inline(__always)
  private static func word(_ bytes: RawSpan, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
  }
}
