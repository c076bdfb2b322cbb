// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// SMART_BATTERY_INFO: properties of a battery that hardly change, from a battery that knows them. Only version 2 of
/// MAVLink has this message.
public struct MAVLinkBatteryInfo: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 370

  /// The number of the battery.
  public var id: UInt8
  /// What the battery supplies, as in BATTERY_STATUS.
  public var function: UInt8 = 0
  /// The chemistry of the battery, as in BATTERY_STATUS.
  public var type: UInt8 = 0
  /// The capacity of the new battery, in milliampere hours.
  public var designMilliampereHours: Int32?
  /// The present capacity of the full battery, in milliampere hours.
  public var fullMilliampereHours: Int32?
  /// The number of charging cycles.
  public var cycles: UInt16?
  /// The serial number; empty if it isn't known.
  public var serialNumber = ""
  /// The name; empty if it isn't known.
  public var name = ""
  /// The fields that aren't properties here, as they were received.
  private var rest: [UInt8]

  private static let byteCount = 109
  private static let blank: [UInt8] = {
    // Weight and voltages that are unknown.
    var bytes: [UInt8] = []
    for none in [0, .max, .max, .max] as [UInt16] { bytes.append(littleEndian: none) }
    return bytes
  }()

  /// A battery of which all other fields are unknown.
  public init(id: UInt8 = 0) {
    self.id = id
    rest = Self.blank + Array(repeating: 0, count: Self.byteCount - 87)
  }

  init(_ payload: RawSpan) {
    designMilliampereHours = payload.padded(0, as: Int32.self).known
    fullMilliampereHours = payload.padded(4, as: Int32.self).known
    cycles = payload.padded(8, as: UInt16.self).unless(.max)
    rest = payload.padded(10..<18) + payload.padded(87..<Self.byteCount)
    id = payload.padded(18)
    function = payload.padded(19)
    type = payload.padded(20)
    serialNumber = payload.paddedText(21..<37)
    name = payload.paddedText(37..<87)
  }

  var payload: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: designMilliampereHours ?? -1)
    bytes.append(littleEndian: fullMilliampereHours ?? -1)
    bytes.append(littleEndian: cycles ?? .max)
    bytes += rest.prefix(8)
    bytes += [id, function, type]
    bytes.append(serialNumber.utf8, count: 16)
    bytes.append(name.utf8, count: 50)
    bytes += rest.dropFirst(8)
    return bytes
  }

  /// The present capacity in percent of the capacity when new; nil if it isn't known, or impossible.
  public var healthPercent: UInt8? {
    guard let full = fullMilliampereHours, let design = designMilliampereHours, design > 0 else { return nil }
    return UInt8(exactly: (Double(full) / Double(design) * 100).rounded())?.percent
  }
}
