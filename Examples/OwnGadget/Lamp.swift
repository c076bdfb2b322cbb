// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A lamp whose frames have numbers, and which takes commands by name.
struct Lamp: LinkedAccessory {
  let link: Link<FrameExchange<HeaderCodec>>

  static let commands = [
    CommandDescription("light", "Sets the brightness", [.init("level", .whole(0...100), unit: "%")]),
    CommandDescription("heat", "Asks for the temperature", results: [.init("temperature", unit: "°C")]),
  ]

  static let driver = Driver(name: "lamp", summary: "Lamps", commands: commands, rawBytes: .harmless) {
    session, _, clock throws(AccessoryError) in try await open(session, clock: clock)
  }

  static func open(
    _ session: AccessorySession, firstNumber: UInt32? = nil, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> Lamp {
    // A5, length of the payload, command, number, payload, CRC-8 over all behind A5.
    let format = HeaderFormat(
      sync: [0xA5], headerByteCount: 4, length: .init(offset: 1, byteCount: 1),
      payloadChecksum: .init(.crc(.crc8SMBUS), coveredHeader: 1..<4))
    let rules = try FrameExchange(
      format, maximumPayload: 64, label: session.label, numbers: 1...255, firstNumber: firstNumber,
      number: { frame, number in frame.header[3] = UInt8(number) }
    ) { frame, request in frame.header[3] == request.header[3] ? .reply : .unrelated }
    return Lamp(link: try await Link.open(session, rules: rules, clock: clock))
  }

  func commands() -> [CommandDescription] { Self.commands }

  func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    var replies: [CommandReply] = []
    for call in calls {
      switch call.command.name {
      case "light":
        _ = try await ask(0x10, call, [UInt8(call.whole("level"))], replyBytes: 0)
        replies.append(CommandReply(call.command))
      default:
        let reply = try await ask(0x11, call, replyBytes: 1)
        replies.append(CommandReply(call.command, [.whole(Int(Int8(bitPattern: reply[0])))]))
      }
    }
    return replies
  }

  private func ask(
    _ code: UInt8, _ call: CommandCall, _ payload: [UInt8] = [], replyBytes: Int
  ) async throws(AccessoryError) -> [UInt8] {
    let frame = Frame(HeaderBytes(code, at: 2), payload: payload)
    let reply = try await link.ask(FrameRequest(frame, name: call.command.name, isIdempotent: true)).payload
    guard reply.count == replyBytes else {
      throw AccessoryError(.badData, "\(label) answers \(call.command.name) with nonsense")
    }
    return reply
  }
}
