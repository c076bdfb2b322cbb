// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Describes MAVLink frames in words.
enum MAVLinkWords {
  private static let name = "MAVLink"

  /// A decoder of the frames in both directions.
  static var reader: any FrameReader {
    CodecFrameReader(MAVLinkCodec()) { header, outcome, payload, _ in words(header, outcome, payload) }
  }

  private static func words(_ header: MAVLinkHeader, _ outcome: FrameOutcome, _ payload: [UInt8]) -> FrameWords {
    let message = MAVLinkTable.definition(of: header.message)?.name ?? "message \(header.message)"
    var words = FrameWords(
      name, "message", title: "\(message) \(header.system)/\(header.component) #\(header.sequence)", command: message,
      number: UInt16(header.sequence))
    words.fields = [
      FrameField("version", header.version.rawValue), FrameField("message", header.message),
      FrameField("system", header.system), FrameField("component", header.component),
    ]
    guard outcome == .whole else {
      let isKnown = MAVLinkTable.definition(of: header.message) != nil
      words.summary =
        switch outcome {
        case .otherVersion where isKnown: "has unknown features"
        case .otherVersion: "is unknown, so it can't be checked"
        default: FrameWords.problem(outcome) ?? ""
        }
      return words
    }
    guard let read = MAVLinkMessage(header.message, payload: payload.span.bytes) else {
      words.summary = FrameWords.preview(payload)
      return words
    }
    tell(read, &words)
    return words
  }

  private static func tell(_ message: MAVLinkMessage, _ words: inout FrameWords) {
    switch message {
    case .heartbeat(let beat): tell(beat, &words)
    case .systemStatus(let system): tell(system, &words)
    case .batteryStatus(let status): tell(status, &words)
    case .batteryInfo(let info):
      words.summary = list([
        "battery \(info.id)", info.fullMilliampereHours.map { "\($0) mAh when full" },
        info.cycles.map { Amount.of(Int($0), "cycle") },
        info.name.isEmpty ? nil : FrameWords.quoted(info.name),
      ])
      words.fields += [FrameField("battery", info.id)]
      words.fields += FrameField.battery(.fullCapacity, info.fullMilliampereHours)
      words.fields += FrameField.battery(.cycles, info.cycles)
    case .autopilotVersion(let version):
      words.summary = list([
        version.firmware.map { "firmware \($0)" }, version.board == 0 ? nil : "board \(version.board)",
        version.serialNumber.map { "serial number \($0)" },
      ])
      if let firmware = version.firmware { words.fields.append(FrameField("firmware", firmware)) }
      if let serial = version.serialNumber { words.fields.append(FrameField("serial_number", serial)) }
    case .statusText(let text):
      let severity = text.severityWord ?? "severity \(text.severity)"
      words.summary = "\(severity), \(FrameWords.quoted(text.bytes, limit: 200))"
      words.fields += [
        FrameField("severity", text.severity), FrameField("text", String(decoding: text.bytes, as: UTF8.self)),
      ]
    case .command(let command): tell(command, &words)
    case .acknowledgement(let acknowledgement):
      words.kind = acknowledgement.result == 0 ? "reply" : "refusal"
      words.isRefusal = acknowledgement.result != 0 && acknowledgement.result != 5
      words.summary =
        "\(commandName(acknowledgement.command)) \(acknowledgement.word ?? "result \(acknowledgement.result)")"
      words.fields += [
        FrameField("command", acknowledgement.command), FrameField("result", acknowledgement.result),
      ]
    }
  }

  private static func tell(_ beat: MAVLinkHeartbeat, _ words: inout FrameWords) {
    words.summary = list([
      beat.typeWord ?? "type \(beat.type)",
      beat.autopilot == MAVLinkHeartbeat.noAutopilot ? nil : beat.autopilotName ?? "autopilot \(beat.autopilot)",
      beat.stateWord ?? "state \(beat.state)", beat.mode.contains(.armed) ? "armed" : nil,
    ])
    words.fields += [
      FrameField("type", beat.type), FrameField("autopilot", beat.autopilot), FrameField("mode", beat.mode.rawValue),
      FrameField("custom_mode", beat.customMode), FrameField("state", beat.state),
      FrameField("armed", .flag(beat.mode.contains(.armed))),
    ]
  }

  private static func tell(_ system: MAVLinkSystemStatus, _ words: inout FrameWords) {
    words.summary = list([
      system.percent.map { "\($0) %" }, system.millivolts.map { "\($0) mV" },
      system.centiamperes.map { "\(-10 * Int($0)) mA" }, system.load.map { "load \($0) ‰" },
      system.unhealthySensors.isEmpty ? nil : "unhealthy: \(system.unhealthySensors.joined(separator: ", "))",
    ])
    words.fields += FrameField.battery(.percent, system.percent) + FrameField.battery(.voltage, system.millivolts)
    words.fields += FrameField.battery(.current, system.centiamperes.map { -10 * Int($0) })
    words.add("load_permille", system.load)
    words.fields.append(FrameField("unhealthy", .list(system.unhealthySensors.map { .text($0) })))
  }

  private static func tell(_ status: MAVLinkBatteryStatus, _ words: inout FrameWords) {
    words.summary = list([
      "battery \(status.id)", status.percent.map { "\($0) %" }, status.millivolts.map { "\($0) mV" },
      status.centiamperes.map { "\(-10 * Int($0)) mA" }, status.state.map { "\($0)" },
      status.faultWords.flatMap { $0.isEmpty ? nil : $0.joined(separator: ", ") },
    ])
    words.fields.append(FrameField("battery", status.id))
    words.fields += FrameField.battery(.percent, status.percent) + FrameField.battery(.voltage, status.millivolts)
    words.fields += FrameField.battery(.current, status.centiamperes.map { -10 * Int($0) })
    words.fields.append(
      FrameField("cells_mv", .list(status.cells.map { $0.map { .whole(Int($0)) } ?? .nothing })))
    if let faults = status.faultWords { words.fields.append(FrameField("faults", .list(faults.map { .text($0) }))) }
  }

  private static func tell(_ command: MAVLinkCommand, _ words: inout FrameWords) {
    words.kind = "request"
    let message = command.requestedMessage.map { MAVLinkTable.definition(of: $0)?.name ?? "message \($0)" }
    words.summary = list([
      "\(commandName(command.command))\(message.map { " \($0)" } ?? "")", "for \(command.system)/\(command.component)",
      command.confirmation == 0 ? nil : "again",
    ])
    words.fields += [
      FrameField("command", command.command),
      FrameField(
        "parameters", .list(command.parameters.map { $0.isFinite ? .number(Double($0)) : .nothing })),
      FrameField("target_system", command.system), FrameField("target_component", command.component),
    ]
  }

  private static func commandName(_ command: UInt16) -> String {
    switch command {
    case MAVLinkCommand.requestMessage: "REQUEST_MESSAGE"
    case MAVLinkCommand.setMessageInterval: "SET_MESSAGE_INTERVAL"
    default: "command \(command)"
    }
  }

  private static func list(_ parts: [String?]) -> String { parts.compactMap { $0 }.joined(separator: ", ") }
}

extension FrameWords {
  /// Adds a field, if its number is known.
  fileprivate mutating func add(_ name: String, _ number: (some BinaryInteger)?) {
    if let number { fields.append(FrameField(name, number)) }
  }
}
