// SPDX-License-Identifier: Apache-2.0

/// Whether an accessory's battery is being charged, as the AF1 specification has it on the wire.
public enum ChargeState: UInt8, Sendable, Hashable, CaseIterable {
  /// The accessory does not say, or sent a value that is not known here.
  case unknown = 0
  /// Power goes into the battery.
  case charging = 1
  /// Power comes from the battery.
  case discharging = 2
  /// Charging is done.
  case full = 3

  /// Reads a byte from the wire: any value without a meaning is `unknown`.
  public init(wire byte: UInt8) {
    self = ChargeState(rawValue: byte) ?? .unknown
  }
}
