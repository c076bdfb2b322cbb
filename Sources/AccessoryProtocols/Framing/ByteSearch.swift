// SPDX-License-Identifier: Apache-2.0

/// Searches for bytes, eight at a time.
///
/// The functions read without bounds checks. They compare every offset with the span's own count before.
package enum ByteSearch {
  /// The index of the first `first` that `second` follows, from `start` on. Without such a pair, it is the index of the
  /// last byte if that is `first`, as later bytes may complete the pair; otherwise the span's count.
  @inline(__always)
  package static func firstPair(_ first: UInt8, _ second: UInt8, in bytes: RawSpan, from start: Int) -> Int {
    precondition(start >= 0)
    let count = bytes.byteCount
    let firsts = UInt64(first) &* ones
    let seconds = UInt64(second) &* ones
    var offset = start
    while count &- offset > 8 {
      // A byte of `difference` is zero exactly where both bytes match.
      let difference = (bytes.word(uncheckedAt: offset) ^ firsts) | (bytes.word(uncheckedAt: offset &+ 1) ^ seconds)
      let flags = zeroFlags(difference)
      if flags != 0 { return offset &+ flags.trailingZeroBitCount >> 3 }
      offset &+= 8
    }
    while offset < count {
      if bytes.byte(uncheckedAt: offset) == first {
        if offset &+ 1 == count || bytes.byte(uncheckedAt: offset &+ 1) == second { return offset }
      }
      offset &+= 1
    }
    return count
  }

  /// The index of the first byte equal to `wanted` from `start` on, or the span's count.
  package static func firstIndex(of wanted: UInt8, in bytes: RawSpan, from start: Int) -> Int {
    precondition(start >= 0)
    let count = bytes.byteCount
    let pattern = UInt64(wanted) &* ones
    var offset = start
    while count &- offset >= 8 {
      let flags = zeroFlags(bytes.word(uncheckedAt: offset) ^ pattern)
      if flags != 0 { return offset &+ flags.trailingZeroBitCount >> 3 }
      offset &+= 8
    }
    while offset < count {
      if bytes.byte(uncheckedAt: offset) == wanted { return offset }
      offset &+= 1
    }
    return count
  }

  /// The index of the first byte from `start` on that is one of `wanted`, or the span's count.
  static func firstIndex(ofAny wanted: Needles, in bytes: RawSpan, from start: Int) -> Int {
    precondition(start >= 0)
    let count = bytes.byteCount
    var offset = start
    while count &- offset >= 8 {
      let word = bytes.word(uncheckedAt: offset)
      // The lowest flag of each operand is right, so the lowest of all flags is right.
      let flags =
        zeroFlags(word ^ wanted.patterns.0) | zeroFlags(word ^ wanted.patterns.1)
        | zeroFlags(word ^ wanted.patterns.2) | zeroFlags(word ^ wanted.patterns.3)
      if flags != 0 { return offset &+ flags.trailingZeroBitCount >> 3 }
      offset &+= 8
    }
    while offset < count {
      if wanted.contains(bytes.byte(uncheckedAt: offset)) { return offset }
      offset &+= 1
    }
    return count
  }

  /// One to four bytes to look for.
  struct Needles: Sendable {
    /// Each byte, repeated eight times. If there are fewer than four bytes, the first one fills the other patterns.
    fileprivate let patterns: (UInt64, UInt64, UInt64, UInt64)

    /// The bytes to look for.
    ///
    /// - Precondition: There are one to four `bytes`.
    init(_ bytes: [UInt8]) {
      precondition((1...4).contains(bytes.count))
      func pattern(_ index: Int) -> UInt64 { UInt64(index < bytes.count ? bytes[index] : bytes[0]) &* ones }
      patterns = (pattern(0), pattern(1), pattern(2), pattern(3))
    }

    /// Whether `byte` is one of the bytes to look for.
    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
      let pattern = UInt64(byte) &* ones
      return pattern == patterns.0 || pattern == patterns.1 || pattern == patterns.2 || pattern == patterns.3
    }
  }

  @inline(__always)
  private static var ones: UInt64 { 0x0101_0101_0101_0101 }

  /// Has the high bit set for each byte that is zero. Higher bits than the lowest one that is set may be wrong, so only
  /// that one counts.
  @inline(__always)
  private static func zeroFlags(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & (ones << 7) }
}
