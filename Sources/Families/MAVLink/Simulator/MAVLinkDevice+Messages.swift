// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator
import FamilyMAVLink

// The messages of the simulated autopilot.

extension MAVLinkDevice {
  /// The capacity of a full battery, in mAh.
  private static let capacity = 5_000
  /// The current out of the battery, in hundredths of an ampere.
  private static let centiamperes: Int16 = 1_234

  /// Handles a command. Only requests for messages are accepted.
  mutating func take(_ command: MAVLinkCommand, from header: MAVLinkHeader) -> [SerialEffect<Self>] {
    guard [0, configuration.system].contains(command.system), [0, 1].contains(command.component) else { return [] }
    func answer(_ result: MAVLinkAcknowledgement.Result) -> MAVLinkMessage {
      .acknowledgement(
        MAVLinkAcknowledgement(command.command, result, system: header.system, component: header.component))
    }
    let isKnown = command.command != MAVLinkCommand.requestMessage || !has(.old)
    guard isKnown, let message = command.requestedMessage, !messages(message).isEmpty else {
      return [.report(.refused(command.command))] + send(answer(.unsupported))
    }
    var effects: [SerialEffect<Self>] = [.report(.asked(message))] + send(answer(.accepted))
    if command.command == MAVLinkCommand.requestMessage { return effects + send(message) }
    let count = (intervals[message]?.count ?? 0) + 1
    // 0 sets the default interval, and a negative number stops the messages.
    let microseconds = Int64(exactly: command.parameters[1].rounded()) ?? 0
    let interval = Duration.microseconds(
      microseconds == 0 ? 1_000_000 : max(10_000, min(microseconds, 3_600_000_000)))
    intervals[message] = (interval, count)
    if microseconds >= 0 { effects.append(.after(min(interval, .milliseconds(100)), .again(message, count))) }
    return effects
  }

  /// The messages with this number: one for each battery if they are about batteries; empty when the autopilot has no such message.
  private func messages(_ number: UInt32) -> [MAVLinkMessage] {
    switch number {
    case MAVLinkHeartbeat.number: return [.heartbeat(configuration.heartbeat)]
    case MAVLinkSystemStatus.number: return [.systemStatus(systemStatus)]
    case MAVLinkBatteryStatus.number where !has(.plain):
      return (0..<max(0, min(16, configuration.batteries))).map { .batteryStatus(batteryStatus(UInt8($0))) }
    case MAVLinkBatteryInfo.number where !has(.plain) && configuration.version == .two:
      var info = MAVLinkBatteryInfo()
      (info.designMilliampereHours, info.fullMilliampereHours) = (Int32(Self.capacity), Int32(Self.capacity))
      info.cycles = 12
      info.name = "Simulated battery"
      return [.batteryInfo(info)]
    case MAVLinkAutopilotVersion.number:
      var version = MAVLinkAutopilotVersion()
      version.flightSoftware = configuration.firmware
      version.board = 9
      version.uid = configuration.serialNumber.utf8.reduce(0) { $0 << 8 | UInt64($1) }
      return [.autopilotVersion(version)]
    case MAVLinkStatusText.number: return [.statusText(MAVLinkStatusText("Ready"))]
    default: return []
    }
  }

  private var cellMillivolts: UInt16 { UInt16(3_300 + 9 * max(0, min(100, configuration.percent))) }
  private var cells: Int { max(0, min(MAVLinkBatteryStatus.voltageCount, configuration.cells)) }
  private var current: Int16 { configuration.isCharging ? -200 : Self.centiamperes }

  private var systemStatus: MAVLinkSystemStatus {
    var status = MAVLinkSystemStatus()
    (status.present, status.enabled, status.healthy) = (0x0231_FC2F, 0x0231_FC2F, 0x0231_FC2F)
    status.load = 253
    guard configuration.batteries > 0 else { return status }
    status.millivolts = cellMillivolts * UInt16(max(1, cells))
    status.centiamperes = current
    status.percent = UInt8(max(0, min(100, configuration.percent)))
    return status
  }

  private func batteryStatus(_ id: UInt8) -> MAVLinkBatteryStatus {
    var status = MAVLinkBatteryStatus(id: id)
    (status.function, status.type) = (id == 0 ? 1 : 3, 1)
    status.centidegrees = 2_815
    if cells == 0 { status.voltages[0] = cellMillivolts * 4 }
    for cell in 0..<cells { status.voltages[cell] = cellMillivolts }
    status.centiamperes = current
    let percent = max(0, min(100, configuration.percent))
    status.percent = UInt8(percent)
    status.consumedMilliampereHours = Int32((100 - percent) * Self.capacity / 100)
    if !configuration.isCharging, percent > 0 {
      // Milliampere hours times 3,600 s/h, divided by milliamperes.
      status.secondsRemaining = Int32(percent * Self.capacity / 100 * 360 / Int(Self.centiamperes))
    }
    status.state = configuration.isCharging ? .charging : percent > 20 ? .ok : percent > 5 ? .low : .critical
    return status
  }

  // MARK: - Frames

  mutating func send(_ number: UInt32) -> [SerialEffect<Self>] { messages(number).flatMap { send($0) } }

  private func version(of message: MAVLinkMessage) -> MAVLinkVersion {
    guard has(.mixed), sequence & 1 == 1 else { return configuration.version }
    return configuration.version == .two && message.number < 256 ? .one : .two
  }

  private mutating func send(_ message: MAVLinkMessage) -> [SerialEffect<Self>] {
    var header = MAVLinkHeader(
      message.number, version: version(of: message), sequence: sequence, system: configuration.system, component: 1)
    sequence &+= 1
    if has(.signed), header.version == .two {
      header.incompatibilityFlags = 1
      header.signature = (0..<13).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    var bytes: [UInt8] = []
    try? codec.encode(header, payload: message.payload(header.version), into: &bytes)
    return pass(bytes)
  }

  /// Sends a frame, with the line's faults.
  private mutating func pass(_ frame: [UInt8]) -> [SerialEffect<Self>] {
    if isStalled { return [] }
    var bytes = frame
    if chance(configuration.garbage) {
      // The noise also contains start bytes.
      let count = 1 + Int(random.next() % 40)
      let starts: [UInt8] = [0xFD, 0xFE]
      let noise = (0..<count).map { _ in
        random.next() % 8 == 0 ? starts[Int(random.next() % 2)] : UInt8(truncatingIfNeeded: random.next())
      }
      bytes = noise + bytes
    }
    if isHolding {
      if held.count < 4_096 { held += bytes }
      return []
    }
    guard bytes.count > 1, chance(configuration.split) else { return [.send(bytes)] }
    let cut = 1 + Int(random.next() % UInt64(bytes.count - 1))
    (held, isHolding) = (Array(bytes[cut...]), true)
    return [.send(Array(bytes[..<cut])), .after(.milliseconds(120), .release)]
  }

  private mutating func chance(_ share: Double) -> Bool {
    share > 0 && Double(random.next() >> 11) * 0x1p-53 < share
  }

  /// The frames of other systems on the line.
  mutating func crowd() -> [SerialEffect<Self>] {
    let system = configuration.system
    let others: [(system: UInt8, component: UInt8, heartbeat: MAVLinkHeartbeat)] = [
      (system, 154, MAVLinkHeartbeat(type: 26, autopilot: 8, state: 4)),
      (255, 190, MAVLinkHeartbeat(type: 6, autopilot: 8, state: 4)),
      (system &+ 1, 1, MAVLinkHeartbeat(type: 10, autopilot: 12, state: 5)),
    ]
    var effects: [SerialEffect<Self>] = []
    for other in others {
      effects += pass(
        MAVLinkMessage.heartbeat(other.heartbeat).frame(
          configuration.version, sequence: sequence, system: other.system, component: other.component))
    }
    var foreign = MAVLinkBatteryStatus(id: 0)
    foreign.percent = 1
    effects += pass(
      MAVLinkMessage.batteryStatus(foreign).frame(
        configuration.version, sequence: sequence, system: system &+ 1, component: 1))
    return effects + pass(unknownFrame)
  }

  /// A frame of an undefined message, with start bytes inside.
  private var unknownFrame: [UInt8] {
    let system = configuration.system
    let payload: [UInt8] = [0xFE, 9, 0, system, 1, 0, 0xFD, 40, 0, 0, 0, system, 1, 1, 0, 0]
    var header = MAVLinkHeader(
      configuration.version == .two ? 60_000 : 227, version: configuration.version, system: configuration.system,
      component: 154)
    header.sequence = sequence
    return header.bytesUnchecked(payload: payload)
  }
}

extension MAVLinkHeader {
  /// The bytes of a frame with a meaningless checksum.
  fileprivate func bytesUnchecked(payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = version == .one ? [0xFE, UInt8(payload.count)] : [0xFD, UInt8(payload.count), 0, 0]
    bytes += [sequence, system, component, UInt8(truncatingIfNeeded: message)]
    if version == .two { bytes += [UInt8(truncatingIfNeeded: message >> 8), UInt8(truncatingIfNeeded: message >> 16)] }
    return bytes + payload + [0x12, 0x34]
  }
}
