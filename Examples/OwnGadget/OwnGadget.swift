// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

struct Gadget: LinkedAccessory {
  let link: Link<FrameExchange<HeaderCodec>>

  static func open(_ session: AccessorySession) async throws(AccessoryError) -> Gadget {
    // A5, length of the payload, command, payload, CRC-8 over all behind A5.
    let format = HeaderFormat(
      sync: [0xA5], headerByteCount: 3, length: .init(offset: 1, byteCount: 1),
      payloadChecksum: .init(.crc(.crc8SMBUS), coveredHeader: 1..<3))
    // A reply has the request's command with the highest bit set, a refusal 7F and the reason.
    let rules = try FrameExchange(format, maximumPayload: 64, label: session.label) { frame, request in
      if frame.header[2] == 0x7F { return .refusal(frame.payload.first, "it can't do that now") }
      return frame.header[2] == request.header[2] | 0x80 ? .reply : .unrelated
    }
    return Gadget(link: try await Link.open(session, rules: rules))
  }

  func battery() async throws(AccessoryError) -> BatteryReading {
    let reply = try await ask(0x01, "BATTERY", replyBytes: 3)  // percent, FF where it isn't known; millivolts
    return BatteryReading(percent: reply[0] > 100 ? nil : Int(reply[0]), millivolts: Int(reply[1]) | Int(reply[2]) << 8)
  }

  func status() async throws(AccessoryError) -> AccessoryStatus {
    AccessoryStatus(state: AccessoryState(wire: try await ask(0x02, "STATUS", replyBytes: 1)[0]))
  }

  private func ask(_ command: UInt8, _ name: String, replyBytes: Int) async throws(AccessoryError) -> [UInt8] {
    let request = FrameRequest(Frame(HeaderBytes(command, at: 2)), name: name, isIdempotent: true)
    let reply = try await link.ask(request).payload
    guard reply.count == replyBytes else { throw AccessoryError(.badData, "\(label) answers \(name) with nonsense") }
    return reply
  }
}

@main enum OwnGadget {
  static func main() async {
    do {
      let gadget = try await Gadget.open(.open(TerminalConfiguration(path: CommandLine.arguments.last ?? "")))
      print("battery: \(try await gadget.battery().level), status: \(try await gadget.status())")
      await gadget.close()
    } catch { print(error) }
  }
}
