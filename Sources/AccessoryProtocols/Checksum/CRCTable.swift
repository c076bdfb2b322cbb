// SPDX-License-Identifier: Apache-2.0

/// The tables of one polynomial: `slices` rows of 256 entries, one after another.
///
/// Row k holds what a byte leaves in the register after k more bytes of zero, so that sixteen bytes can be taken in one
/// step. Every width is kept in a 32-bit register, so that two kernels serve all: reflected algorithms at its low end,
/// the others at its high end.
struct CRCTable: Sendable {
  /// Bytes that the kernels take in one step.
  static let slices = 16

  let entries: [UInt32]

  /// Tables made once for each algorithm of the catalogue.
  private static let catalogue: [(key: Key, table: CRCTable)] = {
    var made: [(key: Key, table: CRCTable)] = []
    for parameters in CRCParameters.catalogue where !made.contains(where: { $0.key == Key(parameters) }) {
      made.append((Key(parameters), CRCTable(Key(parameters))))
    }
    return made
  }()

  /// The tables of the AF1 header's algorithm, at hand for each frame.
  static let ibm3740 = table(for: .crc16IBM3740)

  /// The tables for `parameters`: shared for the catalogue's algorithms, newly made for others.
  static func table(for parameters: CRCParameters) -> CRCTable {
    let key = Key(parameters)
    return catalogue.first { $0.key == key }?.table ?? CRCTable(key)
  }

  /// Of the parameters, those on which the tables depend.
  private struct Key: Equatable, Sendable {
    /// The polynomial as the register has it: reflected at the low end, or shifted to the high end.
    let polynomial: UInt32
    let reflected: Bool

    init(_ parameters: CRCParameters) {
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
  }
}

extension UInt32 {
  /// The same bits, least significant first.
  var bitReversed: UInt32 {
    var value = byteSwapped
    value = value >> 4 & 0x0F0F_0F0F | (value & 0x0F0F_0F0F) << 4
    value = value >> 2 & 0x3333_3333 | (value & 0x3333_3333) << 2
    return value >> 1 & 0x5555_5555 | (value & 0x5555_5555) << 1
  }
}
