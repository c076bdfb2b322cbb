// SPDX-License-Identifier: Apache-2.0

/// What a packet of the Attribute Protocol carries (Bluetooth Core Specification 5.4, Vol 3, Part F, 3.2.8 and 3.2.9).
package enum GATTPacket {
  /// The size of a packet in bytes (ATT_MTU) that every connection has.
  package static let smallest = 23
  /// The bytes in front of the value: the opcode and the handle.
  package static let head = 3
  /// The longest value of GATT in bytes. bluetoothd cuts longer ones off.
  package static let longestValue = 512

  /// The most bytes of a value that a packet of `size` bytes carries.
  package static func room(in size: Int) -> Int { min(max(size, smallest) - head, longestValue) }
}
