// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The number by which programs know a device: 128 bits, as a UUID has them.
package struct RadioPeer: Sendable, Hashable, Comparable {
  package let high: UInt64
  package let low: UInt64

  /// The number with these bits.
  package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  /// The number of a device at an adapter: a UUID of version 5 (RFC 9562) of `adapter/address` in a name space of ours. It stays the
  /// same while both addresses do, and doesn't reveal them.
  package init(adapter: BluetoothAddress?, address: BluetoothAddress) {
    self.init(name: "\(adapter?.description ?? "")/\(address.description)")
  }

  /// The UUID of version 5 of a name in our name space.
  package init(name: String) {
    let hash = SHA1.hash(Self.space + Array(name.utf8))
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    high = number(hash[0..<8]) & ~0xF000 | 0x5000
    low = number(hash[8..<16]) & ~(3 << 62) | 2 << 62
  }

  /// The bytes of 3b1c2f6a-54d8-4f0e-9c1d-1f3b8a6d7e20, a random UUID.
  private static let space: [UInt8] = [
    0x3B, 0x1C, 0x2F, 0x6A, 0x54, 0xD8, 0x4F, 0x0E, 0x9C, 0x1D, 0x1F, 0x3B, 0x8A, 0x6D, 0x7E, 0x20,
  ]

  package static func < (a: RadioPeer, b: RadioPeer) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

/// SHA-1 (RFC 3174), for identifiers. It isn't used for security.
enum SHA1 {
  /// The 20 bytes of a short message.
  static func hash(_ message: [UInt8]) -> [UInt8] {
    var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    var bytes = message + [0x80]
    while bytes.count % 64 != 56 { bytes.append(0) }
    let count = UInt64(message.count) * 8
    bytes += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: count >> UInt64($0)) }
    for block in stride(from: 0, to: bytes.count, by: 64) {
      var words = (0..<16).map { word in
        (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[block + 4 * word + $1]) }
      }
      for index in 16..<80 {
        words.append(rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
      }
      var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
      for index in 0..<80 {
        let (mix, constant): (UInt32, UInt32) =
          switch index {
          case 0..<20: (b & c | ~b & d, 0x5A82_7999)
          case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
          case 40..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
          default: (b ^ c ^ d, 0xCA62_C1D6)
          }
        (a, b, c, d, e) = (rotate(a, 5) &+ mix &+ e &+ constant &+ words[index], a, rotate(b, 30), c, d)
      }
      for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
    }
    return state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) } }
  }

  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}
