// SPDX-License-Identifier: Apache-2.0

/// Computes a `FrameChecksum`. It has the tables; the caller keeps the state.
///
/// All of these checksums are linear: states can be added and subtracted, and bytes of zero change a sum of states as
/// they change its parts. `ChecksumCheckpoints` depends on that.
package struct ChecksumEngine: Sendable {
  private enum Kind: Sendable {
    case crc(CRCTable, width: Int, reflected: Bool)
    case sum
    case xor
    /// The plain sum in the low sixteen bits, the sum of sums in the high ones.
    case fletcher
  }

  /// How many bytes of zero make one block of `shift(_:blocks:)`.
  static let blockByteCount = 128

  let checksum: FrameChecksum
  /// The state before the first byte.
  package let start: UInt32
  let byteCount: Int

  private let kind: Kind
  /// For a CRC, x to the power of 8 · `blockByteCount` · n, modulo the polynomial: for each digit of the number n to the base
  /// `1 << digitBits`, the powers for all values of that digit. Few digits make few products. Empty without `shifts`.
  private let powers: [UInt32]
  private static let digitBits = 6

  /// Everything that computing this checksum needs. With `shifts` also what `shift(_:blocks:)` needs: two hundred products, most of
  /// the work.
  package init(_ checksum: FrameChecksum, shifts: Bool = false) {
    self.checksum = checksum
    byteCount = checksum.byteCount
    switch checksum {
    case .crc(let parameters):
      let unused = UInt32(32 - parameters.width)
      let initial = parameters.initial << unused
      let reflected = parameters.reflected
      start = reflected ? initial.bitReversed : initial
      kind = .crc(CRCTable.table(for: parameters), width: parameters.width, reflected: reflected)
    case .sum8, .negatedSum8:
      start = 0
      kind = .sum
    case .xor8:
      start = 0
      kind = .xor
    case .fletcher8:
      start = 0
      kind = .fletcher
    }
    powers = shifts ? Self.powers(kind) : []
  }

  /// The state after `bytes`, if it was `state` before them.
  package func advance(_ state: UInt32, over bytes: RawSpan) -> UInt32 {
    switch kind {
    case .crc(let table, _, let reflected):
      return reflected
        ? table.reflected(state, bytes)
        : CRCKernels.forward(state, bytes, table.entries.span)
    case .sum:
      var sum = state
      for offset in 0..<bytes.byteCount { sum &+= UInt32(bytes.byte(uncheckedAt: offset)) }
      return sum
    case .xor:
      var value = state
      for offset in 0..<bytes.byteCount { value ^= UInt32(bytes.byte(uncheckedAt: offset)) }
      return value
    case .fletcher:
      var sum = state & 0xFFFF
      var sums = state >> 16
      for offset in 0..<bytes.byteCount {
        // Overflow is harmless, as only the lowest bits count.
        sum &+= UInt32(bytes.byte(uncheckedAt: offset))
        sums &+= sum
      }
      return sums << 16 | sum & 0xFFFF
    }
  }

  package func value(_ state: UInt32) -> UInt32 {
    switch checksum {
    case .crc(let parameters):
      return (parameters.reflected ? state : state >> UInt32(32 - parameters.width)) ^ parameters.xorOut
    case .sum8, .xor8: return state & 0xFF
    case .negatedSum8: return (0 &- state) & 0xFF
    case .fletcher8: return state & 0xFF | (state >> 16 & 0xFF) << 8
    }
  }

  /// The state that gives `left` when it is added to `right`.
  func difference(_ left: UInt32, _ right: UInt32) -> UInt32 {
    switch kind {
    case .crc, .xor: left ^ right
    case .sum: left &- right
    case .fletcher: ((left >> 16) &- (right >> 16)) << 16 | (left &- right) & 0xFFFF
    }
  }

  /// The sum of two states.
  func sum(_ left: UInt32, _ right: UInt32) -> UInt32 {
    switch kind {
    case .crc, .xor: left ^ right
    case .sum: left &+ right
    case .fletcher: ((left >> 16) &+ (right >> 16)) << 16 | (left &+ right) & 0xFFFF
    }
  }

  /// The state after `blocks` times `blockByteCount` bytes of zero, if it was `state` before them. Only for engines made with `shifts`.
  func shift(_ state: UInt32, blocks: Int) -> UInt32 {
    switch kind {
    case .sum, .xor: return state
    case .fletcher:
      let count = UInt32(truncatingIfNeeded: blocks &* Self.blockByteCount)
      return ((state >> 16) &+ count &* (state & 0xFFFF)) << 16 | state & 0xFFFF
    case .crc(let table, let width, let reflected):
      var state = state
      var blocks = blocks
      var row = 0
      while blocks != 0 {
        let digit = blocks & (1 << Self.digitBits - 1)
        if digit != 0 { state = Self.product(state, powers[row + digit], table, width, reflected) }
        blocks >>= Self.digitBits
        row += 1 << Self.digitBits
      }
      return state
    }
  }

  private static func powers(_ kind: Kind) -> [UInt32] {
    guard case .crc(let table, let width, let reflected) = kind else { return [] }
    let one: UInt32 = reflected ? 1 << UInt32(width - 1) : 1 << UInt32(32 - width)
    let zeros = [UInt8](repeating: 0, count: blockByteCount)
    var step =
      reflected
      ? CRCKernels.reflected(one, zeros.span.bytes, table.entries.span)
      : CRCKernels.forward(one, zeros.span.bytes, table.entries.span)
    var powers: [UInt32] = []
    var left = FramingLimits.largestPayload / blockByteCount
    while left > 0 {
      powers.append(one)
      for _ in 1..<(1 << digitBits) { powers.append(product(powers.last ?? one, step, table, width, reflected)) }
      step = product(powers.last ?? one, step, table, width, reflected)
      left >>= digitBits
    }
    return powers
  }

  /// The product of two polynomials modulo a third, of `width` bits, all in the form of the register.
  private static func product(
    _ left: UInt32, _ right: UInt32, _ table: CRCTable, _ width: Int, _ reflected: Bool
  ) -> UInt32 {
    // The steps don't wait for each other, as they would if each one reduced its result.
    var product: UInt64 = 0
    for step in 0..<UInt64(32) { product ^= UInt64(left) << step & (0 &- (UInt64(right) >> step & 1)) }
    // One half is less than the polynomial; the other one is reduced like four bytes in front of it.
    if reflected {
      product <<= UInt64(33 - width)
      return UInt32(product >> 32) ^ CRCKernels.four(UInt32(truncatingIfNeeded: product), 0, table.entries.span)
    }
    product >>= UInt64(32 - width)
    let high = UInt32(truncatingIfNeeded: product >> 32)
    return UInt32(truncatingIfNeeded: product) ^ CRCKernels.four(high.byteSwapped, 0, table.entries.span)
  }
}
