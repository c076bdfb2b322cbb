// SPDX-License-Identifier: Apache-2.0

/// How full an accessory's battery is, as the AF1 specification has it on the wire.
public enum BatteryLevel: UInt8, Sendable, Hashable, CaseIterable {
  /// The accessory asks to be charged.
  case low = 0x01
  /// Between low and high.
  case normal = 0x02
  /// Nearly or wholly charged.
  case high = 0x03
  /// The accessory does not know its level yet, or sent a value that is not known here.
  case notInitialized = 0xFF

  /// Reads a byte from the wire: any value without a meaning is `notInitialized`.
  public init(wire byte: UInt8) {
    self = BatteryLevel(rawValue: byte) ?? .notInitialized
  }
}
