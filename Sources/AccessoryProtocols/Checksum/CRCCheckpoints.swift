// SPDX-License-Identifier: Apache-2.0

/// Computes CRC-32/ISO-HDLC of many overlapping ranges of one stream, in a time that does not grow with their length.
///
/// A CRC is linear: the register after a range follows from the registers after two longer runs with a common start. So
/// the register is stored every `spacing` bytes, and a range costs only the bytes at its two ends and one
/// multiplication. A stream of nested headers, each of which claims a long payload, then costs little more than any
/// other.
struct CRCCheckpoints: Sendable {
  /// Bytes from one checkpoint to the next.
  static let spacing = 128
  /// The longest range, in bytes.
  static let longestRange = 65535
  /// How many bytes checkpoints span before they start anew. They take at most 10 KB.
  private static let reach = 4 * longestRange

  /// The position in the stream of the first checkpoint.
  private var origin = 0
  /// The register at each checkpoint; it starts as zero at the first.
  private var registers: [UInt32] = []

  /// For each k, the polynomial x to the power of 8 · `spacing` · k, modulo the generator.
  private static let powers: [UInt32] = {
    let table = CRCTable.table(for: .crc32ISOHDLC)
    let zeros = [UInt8](repeating: 0, count: spacing)
    // The polynomial 1. The algorithm is reflected, so the coefficient of x⁰ is the highest bit.
    var powers: [UInt32] = [1 << 31]
    for _ in 0..<(longestRange / spacing) {
      powers.append(table.reflected(powers[powers.count - 1], zeros.span.bytes))
    }
    return powers
  }()

  /// Forgets the stream.
  mutating func reset() { registers.removeAll(keepingCapacity: true) }

  /// The checksum of the bytes in `range`, which has at most `longestRange` bytes.
  ///
  /// - Parameters:
  ///   - base: The position in the stream of the first byte of `bytes`. The same position must hold the same byte in
  ///     every call until `reset()`.
  ///   - table: The tables of CRC-32/ISO-HDLC.
  mutating func checksum(of range: Range<Int>, in bytes: RawSpan, base: Int, _ table: CRCTable) -> UInt32 {
    let spacing = Self.spacing
    let start = base + range.lowerBound
    let end = base + range.upperBound
    var last = origin + (registers.count - 1) * spacing
    if registers.isEmpty || last < start || origin - start >= spacing || start - origin > Self.reach {
      registers.removeAll(keepingCapacity: true)
      registers.append(0)
      origin = start
      last = start
    }
    while end - last >= spacing {
      let block = bytes.extracting((last - base)..<(last - base + spacing))
      registers.append(table.reflected(registers[registers.count - 1], block))
      last += spacing
    }
    let first = start <= origin ? 0 : (start - origin + spacing - 1) / spacing
    let final = (end - origin) / spacing
    guard first < final else { return ~table.reflected(.max, bytes.extracting(range)) }
    let firstIndex = origin + first * spacing - base
    let finalIndex = origin + final * spacing - base
    var register = table.reflected(.max, bytes.extracting(range.lowerBound..<firstIndex))
    register = registers[final] ^ Self.product(register ^ registers[first], Self.powers[final - first])
    return ~table.reflected(register, bytes.extracting(finalIndex..<range.upperBound))
  }

  /// The product of two polynomials modulo the generator of CRC-32/ISO-HDLC, reflected.
  private static func product(_ left: UInt32, _ right: UInt32) -> UInt32 {
    var right = right
    var result: UInt32 = 0
    for bit in (0..<32).reversed() {
      result ^= right & (0 &- (left >> UInt32(bit) & 1))
      right = right >> 1 ^ (0xEDB8_8320 & (0 &- (right & 1)))
    }
    return result
  }
}
