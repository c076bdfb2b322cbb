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

  /// Reads an address as it is on the wire: twelve digits, of either case, and nothing else.
  init?(digits: ArraySlice<UInt8>) {
    guard digits.count == 12, let value = WireText.hexadecimal(digits) else { return nil }
    rawValue = value
  }

  /// The twelve digits, in upper case: `0017EA090909`.
  public var digits: String { WireText.hexadecimal(rawValue, digits: 12) }
}

extension BluetoothAddress: CustomStringConvertible {
  /// Six pairs of digits: `00:17:EA:09:09:09`.
  public var description: String {
    stride(from: 40, through: 0, by: -8).map { WireText.hexadecimal(rawValue >> UInt64($0) & 0xFF, digits: 2) }
      .joined(separator: ":")
  }
}
