// SPDX-License-Identifier: Apache-2.0

import CChecksums

/// Computes reflected CRCs by carry-less multiplication, which takes 64 bytes in one step; `CRCKernels` takes 16.
struct CRCFolding: Sendable {
  /// The fewest bytes that folding works with.
  static let least = 64
  static let isPossible = checksums_can_fold()

  /// The powers of x, modulo the polynomial, by which folding multiplies: the first two for steps of four 128-bit
  /// lanes, the last two for steps of one lane.
  private static let exponents = [544, 480, 160, 96]
  private let powers: [UInt64]

  /// Nil if the processor has no carry-less multiplication. `polynomial` is reflected, `width` bits wide.
  init?(polynomial: UInt32, width: Int) {
    guard Self.isPossible else { return nil }
    powers = Self.exponents.map { exponent in
      var power: UInt32 = 1 << UInt32(width - 1)
      for _ in 0..<exponent { power = power >> 1 ^ (polynomial & (0 &- (power & 1))) }
      // The register has the coefficient of xⁱ in bit width − 1 − i; folding needs it in bit 32 − i.
      return UInt64(power) << UInt64(33 - width)
    }
  }

  /// Updates the register with `bytes`, at least `least` of them. `table` is made from the same polynomial.
  func reflected(_ register: UInt32, _ bytes: RawSpan, _ table: Span<UInt32>) -> UInt32 {
    precondition(bytes.byteCount >= Self.least && powers.count == Self.exponents.count)
    let count = bytes.byteCount & ~15
    // Sixteen bytes that leave the same remainder as all folded bytes.
    var folded: (UInt64, UInt64) = (0, 0)
    bytes.withUnsafeBytes { bytes in
      withUnsafeMutableBytes(of: &folded) { folded in
        powers.withUnsafeBufferPointer { powers in
          checksums_fold(
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count, register, powers.baseAddress,
            folded.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
      }
    }
    let left = withUnsafeBytes(of: &folded) { CRCKernels.reflected(0, $0.bytes, table) }
    return count == bytes.byteCount
      ? left : CRCKernels.reflected(left, bytes.extracting(count..<bytes.byteCount), table)
  }
}
