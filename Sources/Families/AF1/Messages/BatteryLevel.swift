// SPDX-License-Identifier: Apache-2.0

/// The level of an accessory's battery.
public enum BatteryLevel: UInt8, Sendable, Hashable, CaseIterable {
  /// The battery should be charged.
  case low = 0x01
  /// Between low and high.
  case normal = 0x02
  /// Nearly or fully charged.
  case high = 0x03
  /// The accessory does not know its level yet, or sent an unknown value.
  case notInitialized = 0xFF

  /// Reads a byte from the wire: any value without a meaning is `notInitialized`.
  public init(wire byte: UInt8) {
    self = BatteryLevel(rawValue: byte) ?? .notInitialized
  }
}
