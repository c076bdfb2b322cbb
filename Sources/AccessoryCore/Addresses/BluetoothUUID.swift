// SPDX-License-Identifier: Apache-2.0

/// The UUID of a service, a characteristic or a profile, in small letters with all 32 digits.
///
/// The Bluetooth SIG's own numbers have a short form: `ffe1` is `0000ffe1-0000-1000-8000-00805f9b34fb`.
public struct BluetoothUUID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// All 32 digits with four hyphens, in small letters.
  public let text: String

  private static let base = "-0000-1000-8000-00805f9b34fb"

  /// Reads a UUID of 4, 8 or 32 hexadecimal digits, the last with hyphens; nil for anything else.
  public init?(_ text: some StringProtocol) {
    let small = text.lowercased()
    let groups = small.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }) else { return nil }
    switch groups.map(\.utf8.count) {
    case [4]: self.text = "0000" + small + Self.base
    case [8]: self.text = small + Self.base
    case [8, 4, 4, 4, 12]: self.text = small
    default: return nil
    }
  }

  /// The UUID of one of the SIG's numbers.
  package init(short number: UInt16) { text = "0000" + Hexadecimal.string(number) + Self.base }

  /// The serial port of Bluetooth Classic devices.
  package static let serialPort = BluetoothUUID(short: 0x1101)

  /// The Client Characteristic Configuration descriptor.
  package static let clientConfiguration = BluetoothUUID(short: 0x2902)

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }

  /// Orders UUIDs by their digits.
  public static func < (a: BluetoothUUID, b: BluetoothUUID) -> Bool { a.text < b.text }

  /// Four digits where that says it all, otherwise all of them.
  public var description: String {
    text.hasPrefix("0000") && text.hasSuffix(Self.base) ? String(text.dropFirst(4).prefix(4)) : text
  }
}
