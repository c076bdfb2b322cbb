// SPDX-License-Identifier: Apache-2.0

/// A message as typed values: those that tell of an autopilot and its batteries, and those by which they are asked for.
public enum MAVLinkMessage: Sendable, Hashable {
  /// HEARTBEAT: somebody is there.
  case heartbeat(MAVLinkHeartbeat)
  /// SYS_STATUS: how the autopilot is, and its main battery.
  case systemStatus(MAVLinkSystemStatus)
  /// BATTERY_STATUS: one of the batteries.
  case batteryStatus(MAVLinkBatteryStatus)
  /// SMART_BATTERY_INFO: what doesn't change of a battery.
  case batteryInfo(MAVLinkBatteryInfo)
  /// AUTOPILOT_VERSION: what the autopilot is.
  case autopilotVersion(MAVLinkAutopilotVersion)
  /// STATUSTEXT: something for people.
  case statusText(MAVLinkStatusText)
  /// COMMAND_LONG: something is to be done.
  case command(MAVLinkCommand)
  /// COMMAND_ACK: what became of a command.
  case acknowledgement(MAVLinkAcknowledgement)

  /// The message of this number in a payload; nil for numbers that have no case here. What the payload is too short for is
  /// zero, what it is too long for is left out.
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

  /// The payload as a version has it: version 1 has no extensions, version 2 leaves out the zeros at the end.
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

  /// The message in a frame, with the next number of its sender. Empty for a message that version 1 can't carry.
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
