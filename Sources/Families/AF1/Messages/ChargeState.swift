// SPDX-License-Identifier: Apache-2.0

/// Whether an accessory's battery is being charged.
public enum ChargeState: UInt8, Sendable, Hashable, CaseIterable {
  /// The accessory does not say, or sent an unknown value.
  case unknown = 0
  /// The battery is being charged.
  case charging = 1
  /// The battery supplies power.
  case discharging = 2
  /// Charging is done.
  case full = 3

  /// Reads a byte from the wire: any value without a meaning is `unknown`.
  public init(wire byte: UInt8) {
    self = ChargeState(rawValue: byte) ?? .unknown
  }
}
