// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A message as typed values: messages about an autopilot and its batteries, and messages that ask for those.
public enum MAVLinkMessage: Sendable, Hashable {
  /// HEARTBEAT: the kind of a component and its state.
  case heartbeat(MAVLinkHeartbeat)
  /// SYS_STATUS: the state of the autopilot and of its main battery.
  case systemStatus(MAVLinkSystemStatus)
  /// BATTERY_STATUS: the state of one of the batteries.
  case batteryStatus(MAVLinkBatteryStatus)
  /// SMART_BATTERY_INFO: properties of a battery that hardly change.
  case batteryInfo(MAVLinkBatteryInfo)
  /// AUTOPILOT_VERSION: the versions and capabilities of the autopilot.
  case autopilotVersion(MAVLinkAutopilotVersion)
  /// STATUSTEXT: a text for people.
  case statusText(MAVLinkStatusText)
  /// COMMAND_LONG: a command to a component.
  case command(MAVLinkCommand)
  /// COMMAND_ACK: the outcome of a command.
  case acknowledgement(MAVLinkAcknowledgement)

  /// Reads the message with this number from a payload; nil for numbers without a case here. Bytes that the payload
  /// lacks are zero; surplus bytes are ignored.
  public init?(_ number: UInt32, payload: RawSpan) {
    switch number {
    case MAVLinkHeartbeat.number: self = .heartbeat(MAVLinkHeartbeat(payload))
    case MAVLinkSystemStatus.number: self = .systemStatus(MAVLinkSystemStatus(payload))
    case MAVLinkBatteryStatus.number: self = .batteryStatus(MAVLinkBatteryStatus(payload))
    case MAVLinkBatteryInfo.number: self = .batteryInfo(MAVLinkBatteryInfo(payload))
    case MAVLinkAutopilotVersion.number: self = .autopilotVersion(MAVLinkAutopilotVersion(payload))
    case MAVLinkStatusText.number: self = .statusText(MAVLinkStatusText(payload))
    case MAVLinkCommand.number: self = .command(MAVLinkCommand(payload))
    case MAVLinkAcknowledgement.number: self = .acknowledgement(MAVLinkAcknowledgement(payload))
    default: return nil
    }
  }

  /// Whether there is a case for messages of this number.
  package static func isKnown(_ number: UInt32) -> Bool {
    switch number {
    case MAVLinkHeartbeat.number, MAVLinkSystemStatus.number, MAVLinkBatteryStatus.number, MAVLinkBatteryInfo.number,
      MAVLinkAutopilotVersion.number, MAVLinkStatusText.number, MAVLinkCommand.number, MAVLinkAcknowledgement.number:
      true
    default: false
    }
  }

  /// The message's number.
  public var number: UInt32 {
    switch self {
    case .heartbeat: MAVLinkHeartbeat.number
    case .systemStatus: MAVLinkSystemStatus.number
    case .batteryStatus: MAVLinkBatteryStatus.number
    case .batteryInfo: MAVLinkBatteryInfo.number
    case .autopilotVersion: MAVLinkAutopilotVersion.number
    case .statusText: MAVLinkStatusText.number
    case .command: MAVLinkCommand.number
    case .acknowledgement: MAVLinkAcknowledgement.number
    }
  }

  /// The id of the battery that the message is about; nil for other messages.
  var battery: UInt8? {
    switch self {
    case .batteryStatus(let status): status.id
    case .batteryInfo(let info): info.id
    default: nil
    }
  }

  /// The payload in the form of a version: version 1 has no extensions, version 2 leaves out zeros at the end.
  public func payload(_ version: MAVLinkVersion) -> [UInt8] {
    let full: [UInt8] =
      switch self {
      case .heartbeat(let message): message.payload
      case .systemStatus(let message): message.payload
      case .batteryStatus(let message): message.payload
      case .batteryInfo(let message): message.payload
      case .autopilotVersion(let message): message.payload
      case .statusText(let message): message.payload
      case .command(let message): message.payload
      case .acknowledgement(let message): message.payload
      }
    guard version == .one else { return full.withoutTrailingZeros }
    return Array(full.prefix(MAVLinkTable.definition(of: number)?.baseByteCount ?? 0))
  }

  /// The message in a frame with these numbers. Empty if version 1 can't carry the message.
  public func frame(
    _ version: MAVLinkVersion, sequence: UInt8, system: UInt8, component: UInt8
  ) -> [UInt8] {
    let header = MAVLinkHeader(
      number, version: version, sequence: sequence, system: system, component: component)
    var bytes: [UInt8] = []
    try? MAVLinkCodec().encode(header, payload: payload(version), into: &bytes)
    return bytes
  }
}
