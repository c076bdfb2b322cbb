// SPDX-License-Identifier: Apache-2.0

/// The inner loops of the checksums.
///
/// They read without bounds checks. That is safe because every data offset is below the span's own count, and every
/// table index consists of a row number below `CRCTable.slices` and a byte. The table's size is checked once in each
/// function.
enum CRCKernels {
  /// Updates the register of a reflected algorithm with `bytes`.
  @inline(__always)
  static func reflected(_ register: UInt32, _ bytes: RawSpan, _ table: Span<UInt32>) -> UInt32 {
    updated(register, bytes, table)
  }

  /// Updates the register of an algorithm that is not reflected with `bytes`. The register's bits are at the high end.
  @inline(__always)
  static func forward(_ register: UInt32, _ bytes: RawSpan, _ table: Span<UInt32>) -> UInt32 {
    updated(register.byteSwapped, bytes, table, isSwapped: true).byteSwapped
  }

  /// The register after `bytes`. Its first byte is the lowest one; if `isSwapped`, the table has it as the highest one.
  @inline(__always)
  private static func updated(
    _ register: UInt32, _ bytes: RawSpan, _ table: Span<UInt32>, isSwapped: Bool = false
  ) -> UInt32 {
    precondition(table.count == CRCTable.slices * 256)
    var register = register
    var offset = 0
    let count = bytes.byteCount
    if count >= 16 {
      var ahead = last12(of: bytes, 0, table)
      while count &- offset >= 32 {
        let next = last12(of: bytes, offset &+ 16, table)
        register = inOrder(ahead ^ four(bytes.halfWord(uncheckedAt: offset) ^ register, 12, table), isSwapped)
        ahead = next
        offset &+= 16
      }
      register = inOrder(ahead ^ four(bytes.halfWord(uncheckedAt: offset) ^ register, 12, table), isSwapped)
      offset &+= 16
    }
    while count &- offset >= 4 {
      register = inOrder(four(bytes.halfWord(uncheckedAt: offset) ^ register, 0, table), isSwapped)
      offset &+= 4
    }
    while offset < count {
      let bits = UInt64(register) ^ UInt64(bytes.byte(uncheckedAt: offset))
      register = register >> 8 ^ inOrder(entry(table, 0, bits), isSwapped)
      offset &+= 1
    }
    return register
  }

  @inline(__always)
  private static func inOrder(_ register: UInt32, _ isSwapped: Bool) -> UInt32 {
    isSwapped ? register.byteSwapped : register
  }

  /// The contribution of the last twelve of sixteen bytes to the register. It does not depend on the register's old
  /// value.
  ///
  /// The loops compute it one step ahead, so that only four lookups wait for the step before. If all sixteen lookups
  /// were one expression, the compiler would put them in one dependency chain, at less than half the speed.
  @inline(__always)
  private static func last12(of bytes: RawSpan, _ offset: Int, _ table: Span<UInt32>) -> UInt32 {
    let low = bytes.word(uncheckedAt: offset)
    let high = bytes.word(uncheckedAt: offset &+ 8)
    return entry(table, 11, low >> 32) ^ entry(table, 10, low >> 40) ^ entry(table, 9, low >> 48)
      ^ entry(table, 8, low >> 56) ^ entry(table, 7, high) ^ entry(table, 6, high >> 8) ^ entry(table, 5, high >> 16)
      ^ entry(table, 4, high >> 24) ^ entry(table, 3, high >> 32) ^ entry(table, 2, high >> 40)
      ^ entry(table, 1, high >> 48) ^ entry(table, 0, high >> 56)
  }

  /// The contribution of four bytes, which are already combined with the register, in front of `row` more bytes.
  @inline(__always)
  static func four(_ bits: UInt32, _ row: Int, _ table: Span<UInt32>) -> UInt32 {
    let bits = UInt64(bits)
    return entry(table, row &+ 3, bits) ^ entry(table, row &+ 2, bits >> 8) ^ entry(table, row &+ 1, bits >> 16)
      ^ entry(table, row, bits >> 24)
  }

  @inline(__always)
  private static func entry(_ table: Span<UInt32>, _ row: Int, _ bits: UInt64) -> UInt32 {
    table[unchecked: row &<< 8 | Int(truncatingIfNeeded: bits & 0xFF)]
  }
}
