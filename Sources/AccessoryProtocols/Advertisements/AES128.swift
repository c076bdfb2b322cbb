// SPDX-License-Identifier: Apache-2.0

/// AES with a key of 128 bits (FIPS 197), for what devices encrypt on the air: a block of 16 bytes now and then.
///
/// It is here because a library for it is many times larger than all of these descriptions, and the kernel's AES isn't in the
/// service's sandbox. It looks numbers up in a table, so its time depends on the key: not for what others can measure.
package struct AES128: Sendable {
  /// The bytes of a block, and of a key.
  static let blockSize = 16
  private static let rounds = 10

  /// The keys of the rounds, one after another.
  private let keys: [UInt8]

  /// Nil for a key that doesn't have 16 bytes.
  package init?(key: [UInt8]) {
    guard key.count == Self.blockSize else { return nil }
    var keys = key
    var constant: UInt8 = 1
    while keys.count < Self.blockSize * (Self.rounds + 1) {
      var word = Array(keys.suffix(4))
      if keys.count.isMultiple(of: Self.blockSize) {
        word = [word[1], word[2], word[3], word[0]].map { Self.substitutes[Int($0)] }
        word[0] ^= constant
        constant = Self.doubled(constant)
      }
      for byte in word { keys.append(keys[keys.count - Self.blockSize] ^ byte) }
    }
    self.keys = keys
  }

  /// The encrypted block. `block` has 16 bytes.
  func encrypted(_ block: [UInt8]) -> [UInt8] {
    precondition(block.count == Self.blockSize)
    var state = block
    add(0, to: &state)
    for round in 1...Self.rounds {
      // Row r of a column comes from the column r places to the right.
      state = (0..<Self.blockSize).map { Self.substitutes[Int(state[($0 + 4 * ($0 % 4)) % Self.blockSize])] }
      if round < Self.rounds { Self.mixColumns(of: &state) }
      add(round, to: &state)
    }
    return state
  }

  /// Encrypts or decrypts bytes in counter mode. The first bytes of each block of counters are `nonce`, and the last ones
  /// count the blocks from 0 on, the most significant byte first.
  package func counterMode(_ bytes: some Collection<UInt8>, nonce: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var pad: [UInt8] = []
    for (place, byte) in bytes.enumerated() {
      if place.isMultiple(of: Self.blockSize) {
        var counter = Array(nonce.prefix(Self.blockSize)) + [UInt8](repeating: 0, count: Self.blockSize)
        counter.removeSubrange(Self.blockSize...)
        var number = place / Self.blockSize
        for index in stride(from: Self.blockSize - 1, through: min(nonce.count, Self.blockSize), by: -1) {
          counter[index] = UInt8(truncatingIfNeeded: number)
          number >>= 8
        }
        pad = encrypted(counter)
      }
      result.append(byte ^ pad[place % Self.blockSize])
    }
    return result
  }

  private func add(_ round: Int, to state: inout [UInt8]) {
    for index in state.indices { state[index] ^= keys[Self.blockSize * round + index] }
  }

  private static func mixColumns(of state: inout [UInt8]) {
    for column in stride(from: 0, to: blockSize, by: 4) {
      let old = Array(state[column..<column + 4])
      let sum = old.reduce(0, ^)
      for row in 0..<4 { state[column + row] ^= sum ^ doubled(old[row] ^ old[(row + 1) % 4]) }
    }
  }

  /// Twice a number of the field with 256 elements.
  private static func doubled(_ byte: UInt8) -> UInt8 { byte << 1 ^ (byte & 0x80 == 0 ? 0 : 0x1B) }

  /// What stands for each byte: its inverse in the field, then an affine map. Calculated by going through all powers of 3 and of
  /// its inverse.
  private static let substitutes: [UInt8] = {
    func turned(_ byte: UInt8, _ count: UInt8) -> UInt8 { byte << count | byte >> (8 - count) }
    var table = [UInt8](repeating: 0x63, count: 256)
    var (power, inverse): (UInt8, UInt8) = (1, 1)
    repeat {
      power ^= doubled(power)
      inverse ^= inverse << 1
      inverse ^= inverse << 2
      inverse ^= inverse << 4
      if inverse & 0x80 != 0 { inverse ^= 0x09 }
      table[Int(power)] =
        inverse ^ turned(inverse, 1) ^ turned(inverse, 2) ^ turned(inverse, 3) ^ turned(inverse, 4) ^ 0x63
    } while power != 1
    return table
  }()
}
