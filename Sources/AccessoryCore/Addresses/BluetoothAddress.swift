// SPDX-License-Identifier: Apache-2.0

/// The address of a Bluetooth device: 48 bits, written as twelve hexadecimal digits.
public struct BluetoothAddress: Sendable, Hashable {
  /// The address as a number, 0…0xFFFF_FFFF_FFFF. The first digits are its highest ones.
  public let rawValue: UInt64

  /// The address with this number; `nil` if the number has more than 48 bits.
  public init?(rawValue: UInt64) {
    guard rawValue >> 48 == 0 else { return nil }
    self.rawValue = rawValue
  }

  /// Reads an address as people write it: twelve digits, or six pairs with colons or hyphens between them.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    if bytes.count == 12 {
      self.init(digits: bytes[...])
      return
    }
    guard bytes.count == 17, bytes[2] == UInt8(ascii: ":") || bytes[2] == UInt8(ascii: "-") else { return nil }
    var digits: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      if index % 3 != 2 {
        digits.append(byte)
      } else if byte != bytes[2] {
        return nil
      }
    }
    self.init(digits: digits[...])
  }

  /// Reads an address as it is on the wire of a module: twelve digits, of either case, and nothing else.
  package init?(digits: ArraySlice<UInt8>) {
    guard digits.count == 12, let bytes = Hexadecimal.bytes(String(decoding: digits, as: UTF8.self)) else { return nil }
    rawValue = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The six bytes; the first one has the first digits.
  package var bytes: [UInt8] {
    stride(from: 40, through: 0, by: -8).map { UInt8(truncatingIfNeeded: rawValue >> UInt64($0)) }
  }

  /// The twelve digits, in upper case: `0017EA090909`.
  public var digits: String { Hexadecimal.string(bytes).uppercased() }
}

extension BluetoothAddress: CustomStringConvertible {
  /// Six pairs of digits: `00:17:EA:09:09:09`.
  public var description: String { bytes.map { Hexadecimal.string($0).uppercased() }.joined(separator: ":") }
}
