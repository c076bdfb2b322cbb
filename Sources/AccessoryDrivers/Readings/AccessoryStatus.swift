// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// What an accessory is doing, in the same terms for every kind.
public struct AccessoryStatus: Sendable, Hashable {
  /// What it is doing; `notInitialized` when it doesn't know or say.
  public var state: AccessoryState
  /// The fault's number, whose meaning is the accessory's own; nil when there is none.
  public var faultCode: UInt16?
  /// How much of the work is done, in percent, 0…100; nil when the accessory doesn't say.
  public var progress: UInt8?

  /// A status of these parts.
  public init(state: AccessoryState, faultCode: UInt16? = nil, progress: UInt8? = nil) {
    self.state = state
    self.faultCode = faultCode
    self.progress = progress
  }

  /// The status in an AF1 accessory's reply or event. A fault code of 0 is none.
  public init(_ reply: AF1StatusReply) {
    self.init(state: reply.state, faultCode: reply.faultCode == 0 ? nil : reply.faultCode, progress: reply.progress)
  }
}

/// Who an accessory says it is. The strings are the accessory's own: show them escaped.
public struct AccessoryIdentity: Sendable, Hashable {
  /// Who makes it.
  public var manufacturer: String
  /// What its user calls it.
  public var name: String
  /// Which product it is.
  public var model: String
  /// Which one of these it is.
  public var serialNumber: String
  /// Version of its software.
  public var firmwareRevision: String
  /// Version of its hardware.
  public var hardwareRevision: String

  /// An identity of these parts; empty where it isn't known.
  public init(
    manufacturer: String = "", name: String = "", model: String = "", serialNumber: String = "",
    firmwareRevision: String = "", hardwareRevision: String = ""
  ) {
    self.manufacturer = manufacturer
    self.name = name
    self.model = model
    self.serialNumber = serialNumber
    self.firmwareRevision = firmwareRevision
    self.hardwareRevision = hardwareRevision
  }

  /// The identity in an AF1 accessory's reply.
  public init(_ reply: AF1Identity) {
    manufacturer = reply.manufacturer
    name = reply.name
    model = reply.model
    serialNumber = reply.serialNumber
    firmwareRevision = reply.firmwareVersion
    hardwareRevision = reply.hardwareVersion
  }
}
