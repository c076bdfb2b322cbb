// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The reply to STATUS, and the payload of the event that reports a change.
public struct AF1StatusReply: AF1Payload {
  /// What the accessory is doing.
  public var state: AccessoryState
  /// The fault, by a number that each accessory defines for itself; usually 0 when there is no fault.
  public var faultCode: UInt16
  /// How much of the work is done, in percent, 0…100; `nil` if the accessory does not say.
  public var progress: UInt8?

  /// A status. A `progress` above 100 becomes `nil`.
  public init(state: AccessoryState, faultCode: UInt16 = 0, progress: UInt8? = nil) {
    self.state = state
    self.faultCode = faultCode
    self.progress = AF1Percent.checked(progress)
  }

  /// Reads a status. An unknown state becomes `notInitialized`, a progress above 100 becomes `nil`; further bytes are
  /// ignored.
  ///
  /// - Throws: `AF1PayloadError.tooShort` if there are fewer than four bytes.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    try payload.require(4)
    state = AccessoryState(wire: payload.byte(at: 0))
    faultCode = payload.load(littleEndianAt: 1, as: UInt16.self)
    progress = AF1Percent.checked(payload.byte(at: 3))
  }

  /// Appends the four bytes.
  public func encode(into output: inout [UInt8]) {
    output.append(state.rawValue)
    output.append(littleEndian: faultCode)
    output.append(AF1Percent.wire(progress))
  }
}

/// The reply to BATTERY, and the payload of the event that reports a change.
public struct AF1BatteryReply: AF1Payload {
  /// The coarse level, which every accessory reports.
  public var level: BatteryLevel
  /// The charge in percent, 0…100; `nil` if the accessory does not say.
  public var percent: UInt8?
  /// The voltage in millivolts, at least 1; `nil` if the accessory does not say.
  public var millivolts: UInt16?
  /// Whether the battery is being charged.
  public var charge: ChargeState

  /// A reading. A `percent` above 100 and `millivolts` of 0 become `nil`.
  public init(level: BatteryLevel, percent: UInt8? = nil, millivolts: UInt16? = nil, charge: ChargeState = .unknown) {
    self.level = level
    self.percent = AF1Percent.checked(percent)
    self.millivolts = millivolts == 0 ? nil : millivolts
    self.charge = charge
  }

  /// Reads a reply of 1, 2, 4 or 5 bytes; bytes behind the fifth are ignored.
  ///
  /// A reply of three bytes ends in the middle of the voltage: the level and the percent are read, and the third byte
  /// is ignored. Unknown levels become `notInitialized`, unknown charge states `unknown`, and a percent above 100
  /// `nil`.
  ///
  /// - Throws: `AF1PayloadError.tooShort` if the payload is empty.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    try payload.require(1)
    let count = payload.byteCount
    self.init(
      level: BatteryLevel(wire: payload.byte(at: 0)),
      percent: count >= 2 ? payload.byte(at: 1) : nil,
      millivolts: count >= 4 ? payload.load(littleEndianAt: 2, as: UInt16.self) : nil,
      charge: count >= 5 ? ChargeState(wire: payload.byte(at: 4)) : .unknown)
  }

  /// Appends all five bytes.
  public func encode(into output: inout [UInt8]) {
    output.append(level.rawValue)
    output.append(AF1Percent.wire(percent))
    output.append(littleEndian: millivolts ?? 0)
    output.append(charge.rawValue)
  }

  /// Appends the shortest encoding that has all known fields: 1, 2, 4 or 5 bytes.
  public func encodeShortest(into output: inout [UInt8]) {
    let count =
      switch (percent, millivolts, charge) {
      case (_, _, let charge) where charge != .unknown: 5
      case (_, .some, _): 4
      case (.some, _, _): 2
      default: 1
      }
    var all: [UInt8] = []
    encode(into: &all)
    output.append(contentsOf: all[..<count])
  }
}

/// The rules for percentages in payloads.
enum AF1Percent {
  /// The percentage; `nil` for FF and every other value above 100.
  static func checked(_ percent: UInt8?) -> UInt8? {
    guard let percent, percent <= 100 else { return nil }
    return percent
  }

  /// The byte for a percentage; FF for `nil`.
  static func wire(_ percent: UInt8?) -> UInt8 { checked(percent) ?? 0xFF }
}
