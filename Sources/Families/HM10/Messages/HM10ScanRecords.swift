// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// An iBeacon that a scan has found.
public struct HM10Beacon: Sendable, Hashable {
  /// The manufacturer and the kind of beacon: `4C000215` for Apple's iBeacons.
  public let factory: UInt32
  /// The 16 bytes of its UUID.
  public let uuid: [UInt8]
  /// Its major number.
  public let major: UInt16
  /// Its minor number.
  public let minor: UInt16
  /// The signal strength at a distance of one metre, in dBm, as the beacon states it.
  public let power: Int8
  /// Its address.
  public let address: BluetoothAddress
  /// The measured signal strength, in dBm.
  public let signalStrength: Int

  /// Reads `4C000215:74…59:FFE0FFE1C5:78A5048CECAC:-053`, 70 bytes.
  init?(decoding fields: ArraySlice<UInt8>) {
    let parts = fields.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.map(\.count) == [8, 32, 10, 12, 4], let factory = WireText.hexadecimal(parts[0]),
      let numbers = WireText.hexadecimal(parts[2]), let address = BluetoothAddress(digits: parts[3]),
      let signalStrength = WireText.signed(parts[4])
    else { return nil }
    var uuid: [UInt8] = []
    for start in stride(from: parts[1].startIndex, to: parts[1].endIndex, by: 2) {
      guard let byte = WireText.hexadecimal(parts[1][start..<(start + 2)]) else { return nil }
      uuid.append(UInt8(byte))
    }
    self.factory = UInt32(factory)
    self.uuid = uuid
    major = UInt16(truncatingIfNeeded: numbers >> 24)
    minor = UInt16(truncatingIfNeeded: numbers >> 8)
    power = Int8(truncatingIfNeeded: numbers)
    self.address = address
    self.signalStrength = signalStrength
  }

  /// The 70 bytes that `init(decoding:)` reads.
  var text: String {
    let numbers = UInt64(major) << 24 | UInt64(minor) << 8 | UInt64(UInt8(bitPattern: power))
    return [
      WireText.hexadecimal(UInt64(factory), digits: 8),
      uuid.map { WireText.hexadecimal(UInt64($0), digits: 2) }.joined(),
      WireText.hexadecimal(numbers, digits: 10), address.digits,
      WireText.decimal(signalStrength, digits: signalStrength < 0 ? 3 : 4),
    ].joined(separator: ":")
  }

  /// A beacon; `nil` if the UUID doesn't have 16 bytes, or the signal strength is outside of −999…9999.
  public init?(
    factory: UInt32 = 0x4C00_0215, uuid: [UInt8], major: UInt16, minor: UInt16, power: Int8, address: BluetoothAddress,
    signalStrength: Int
  ) {
    guard uuid.count == 16, (-999...9_999).contains(signalStrength) else { return nil }
    self.factory = factory
    self.uuid = uuid
    self.major = major
    self.minor = minor
    self.power = power
    self.address = address
    self.signalStrength = signalStrength
  }
}

/// An advertisement that a scan has found, as the device sent it.
public struct HM10Advertisement: Sendable, Hashable {
  /// The most bytes that its data has.
  public static let mostData = 31

  /// The address of the sender.
  public let address: BluetoothAddress
  /// The number of its type.
  public let type: UInt8
  /// The measured signal strength, in dBm.
  public let signalStrength: Int8
  /// Its contents.
  public let data: [UInt8]

  /// An advertisement; `nil` if its data has more than `mostData` bytes.
  public init?(address: BluetoothAddress, type: UInt8, signalStrength: Int8, data: [UInt8]) {
    guard data.count <= Self.mostData else { return nil }
    self.address = address
    self.type = type
    self.signalStrength = signalStrength
    self.data = data
  }

  /// Reads address, type, signal strength, length, data and a line end.
  init?(decoding bytes: ArraySlice<UInt8>) {
    let head = Array(bytes.prefix(15))
    guard head.count == 15, let address = BluetoothAddress(digits: head[..<12]),
      bytes.count == head.count + Int(head[14]) + 2, bytes.suffix(2) == WireText.lineEnd[...]
    else { return nil }
    self.init(
      address: address, type: head[12], signalStrength: Int8(bitPattern: head[13]),
      data: Array(bytes.dropFirst(15).dropLast(2)))
  }

  var bytes: [UInt8] {
    Array(address.digits.utf8) + [type, UInt8(bitPattern: signalStrength), UInt8(data.count)] + data + WireText.lineEnd
  }
}
