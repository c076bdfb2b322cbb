// SPDX-License-Identifier: Apache-2.0

/// The commands that a module needs before its serial port carries bytes.
///
/// A Bluno needs its password, and the speed of the line between its radio and its processor. Both are commands, written to a
/// characteristic of their own. Other modules need what their description says.
package struct GATTGreeting: Sendable, Equatable {
  /// The characteristic that takes the commands.
  package let characteristic: GATTCharacteristic
  /// The commands in order, in packets that are small enough for every connection.
  package let packets: [[UInt8]]

  /// The factory password of a Bluno.
  static let factoryPassword = "DFRobot"
  /// The longest password, in bytes.
  package static let passwordLimit = 32
  /// The most bytes of a write before a larger packet is negotiated.
  package static let packetSize = 20
  private static let bluno = (service: BluetoothUUID(short: 0xDFB0), commands: BluetoothUUID(short: 0xDFB2))

  /// The commands for a known module; nil if it needs none.
  init?(_ service: GATTService, _ characteristics: [GATTCharacteristic], _ settings: GATTSettings) {
    let found = characteristics.first {
      $0.uuid == Self.bluno.commands && ($0.takesRequests || $0.takesCommands)
    }
    guard service.uuid == Self.bluno.service, let found else { return nil }
    characteristic = found
    // The command's name has no D at its end. With the factory password it just fits into a packet.
    packets = [
      "AT+PASSWOR=\(settings.password ?? Self.factoryPassword)\r\n", "AT+CURRUART=\(settings.baudRate)\r\n",
    ].flatMap { command in
      let bytes = Array(command.utf8)
      return stride(from: 0, to: bytes.count, by: Self.packetSize).map { start in
        Array(bytes[start..<min(bytes.count, start + Self.packetSize)])
      }
    }
  }

  /// The bytes from a description; nil if the device doesn't have the characteristic.
  init?(_ said: GATTSettings.Greeting, in characteristics: [GATTCharacteristic]) {
    let found = characteristics.first { $0.uuid == said.characteristic && ($0.takesRequests || $0.takesCommands) }
    guard let found else { return nil }
    (characteristic, packets) = (found, [Array(said.bytes.prefix(Self.packetSize))])
  }

  /// Whether a text can be a password: printable ASCII, at most `passwordLimit` bytes.
  package static func isPassword(_ text: String) -> Bool {
    1...passwordLimit ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }
}
