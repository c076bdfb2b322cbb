// SPDX-License-Identifier: Apache-2.0

/// The tables of one polynomial: `slices` rows of 256 entries, one after another.
///
/// Row k has the register after a byte and k more bytes of zero, so that sixteen bytes can be processed in one step.
/// Every width is kept in a 32-bit register, so that two kernels serve all algorithms: reflected ones use its low end,
/// the others its high end.
package struct CRCTable: Sendable {
  /// How many bytes the kernels process in one step.
  static let slices = 16

  package let entries: [UInt32]
  /// A faster method for many bytes; nil if the algorithm is not reflected, or the processor doesn't support it.
  let folding: CRCFolding?

  /// The tables for the algorithms of the catalogue, each made once.
  private static let catalogue: [(key: Key, table: CRCTable)] = {
    var made: [(key: Key, table: CRCTable)] = []
    for parameters in CRCParameters.catalogue where !made.contains(where: { $0.key == Key(parameters) }) {
      made.append((Key(parameters), CRCTable(Key(parameters))))
    }
    return made
  }()

  /// The tables for `parameters`: shared for the catalogue's algorithms, newly made for others.
  package static func table(for parameters: CRCParameters) -> CRCTable {
    let key = Key(parameters)
    return catalogue.first { $0.key == key }?.table ?? CRCTable(key)
  }

  /// The parameters that determine the tables.
  private struct Key: Equatable, Sendable {
    /// The polynomial in the form of the register: reflected at the low end, or shifted to the high end.
    let polynomial: UInt32
    let width: Int
    let reflected: Bool

    init(_ parameters: CRCParameters) {
      width = parameters.width
      let aligned = parameters.polynomial << UInt32(32 - parameters.width)
      polynomial = parameters.reflected ? aligned.bitReversed : aligned
      reflected = parameters.reflected
    }
  }

  private init(_ key: Key) {
    var entries = [UInt32](repeating: 0, count: Self.slices * 256)
    for byte in 0..<256 {
      var register = key.reflected ? UInt32(byte) : UInt32(byte) << 24
      for _ in 0..<8 {
        if key.reflected {
          register = register & 1 == 1 ? register >> 1 ^ key.polynomial : register >> 1
        } else {
          register = register >> 31 == 1 ? register << 1 ^ key.polynomial : register << 1
        }
      }
      entries[byte] = register
    }
    for index in 256..<entries.count {
      let before = entries[index - 256]
      entries[index] =
        key.reflected
        ? before >> 8 ^ entries[Int(before & 0xFF)]
        : before << 8 ^ entries[Int(before >> 24)]
    }
    self.entries = entries
    folding = key.reflected ? CRCFolding(polynomial: key.polynomial, width: key.width) : nil
  }

  /// Updates the register of a reflected algorithm with `bytes`.
  @inline(__always)
  package func reflected(_ register: UInt32, _ bytes: RawSpan) -> UInt32 {
    if bytes.byteCount >= CRCFolding.least, let folding { return folding.reflected(register, bytes, entries.span) }
    return CRCKernels.reflected(register, bytes, entries.span)
  }
}

extension UInt32 {
  /// The same bits in reverse order.
  var bitReversed: UInt32 {
    var value = byteSwapped
    value = value >> 4 & 0x0F0F_0F0F | (value & 0x0F0F_0F0F) << 4
    value = value >> 2 & 0x3333_3333 | (value & 0x3333_3333) << 2
    return value >> 1 & 0x5555_5555 | (value & 0x5555_5555) << 1
  }
}
