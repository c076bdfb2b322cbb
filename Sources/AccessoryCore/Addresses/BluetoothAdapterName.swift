// SPDX-License-Identifier: Apache-2.0

/// Which of this computer's Bluetooth adapters is meant: the kernel's name of it, such as `hci1`, or its own address. The
/// kernel gives names in the order in which adapters come; an address stays.
public struct BluetoothAdapterName: Sendable, Hashable {
  /// The text: `hci1`, or six pairs of digits.
  private let text: String

  /// Reads `hci` and a number up to 65535, or an address; nil for anything else.
  public init?(_ text: String) {
    if let address = BluetoothAddress(text) {
      self.text = address.description
      return
    }
    guard text.hasPrefix("hci"), let number = UInt16(text.dropFirst(3)), text == "hci\(number)" else { return nil }
    self.text = text
  }

  /// The adapter that a text names in front of a slash, and the rest: all of it where no adapter is named.
  package static func prefix(of text: String) -> (adapter: BluetoothAdapterName?, rest: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    // `AA:BB:CC:DD:EE:FF/3` is a device and its channel.
    guard parts.count == 2, let adapter = BluetoothAdapterName(String(parts[0])), !parts[1].isEmpty,
      adapter.number != nil || parts[1].utf8.count >= 12
    else { return (nil, text) }
    return (adapter, String(parts[1]))
  }

  /// The number in the kernel's name; nil for an address.
  package var number: UInt16? { UInt16(text.dropFirst(3)) }
  /// The adapter's address; nil for the kernel's name.
  package var address: BluetoothAddress? { BluetoothAddress(text) }
}

extension BluetoothAdapterName: CustomStringConvertible {
  /// What `init(_:)` reads.
  public var description: String { text }
}
