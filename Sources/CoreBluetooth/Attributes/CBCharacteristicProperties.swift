// SPDX-License-Identifier: Apache-2.0

/// The operations that a characteristic supports.
public struct CBCharacteristicProperties: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt
  /// The properties with these bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Its value may be in advertisements.
  public static let broadcast = Self(rawValue: 0x01)
  /// It can be read.
  public static let read = Self(rawValue: 0x02)
  /// It can be written without a response.
  public static let writeWithoutResponse = Self(rawValue: 0x04)
  /// It can be written with a response.
  public static let write = Self(rawValue: 0x08)
  /// It sends its value without a confirmation.
  public static let notify = Self(rawValue: 0x10)
  /// It sends its value with a confirmation.
  public static let indicate = Self(rawValue: 0x20)
  /// It accepts signed writes.
  public static let authenticatedSignedWrites = Self(rawValue: 0x40)
  /// A descriptor has more properties.
  public static let extendedProperties = Self(rawValue: 0x80)
  /// It notifies trusted devices only.
  public static let notifyEncryptionRequired = Self(rawValue: 0x100)
  /// It indicates to trusted devices only.
  public static let indicateEncryptionRequired = Self(rawValue: 0x200)
}

/// The permissions of other devices for a characteristic that this program offers.
public struct CBAttributePermissions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt
  /// The permissions with these bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// It can be read.
  public static let readable = Self(rawValue: 1)
  /// It can be written.
  public static let writeable = Self(rawValue: 2)
  /// It can be read by trusted devices.
  public static let readEncryptionRequired = Self(rawValue: 4)
  /// It can be written by trusted devices.
  public static let writeEncryptionRequired = Self(rawValue: 8)
}

/// Whether a write is answered.
public enum CBCharacteristicWriteType: Int, Sendable {
  /// The reply is reported to the delegate.
  case withResponse = 0
  /// Nothing is reported.
  case withoutResponse
}
