// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// How to find a kind that has a driver in Swift.
struct NativeProbe: Sendable {
  var kind: String
  var probe: any KindProbe
  var sends: [IdentificationStep.Sending] = []
  var times = 2
  var farewell: [UInt8] = []
  var timeout: Duration

  /// The probe for a name in `IdentificationOrder`; nil for a described protocol. `isNetwork` says that the port is a
  /// connection on the network.
  static func at(_ name: String, isNetwork: Bool, timeout: Duration?) -> NativeProbe? {
    switch name {
    case IdentificationOrder.af1: af1(timeout ?? .milliseconds(500))
    case IdentificationOrder.ev3: isNetwork ? ev3OnNetwork(timeout ?? .seconds(2)) : ev3(timeout ?? .seconds(1))
    case IdentificationOrder.hm10: hm10(.genuine, timeout ?? .seconds(1))
    case IdentificationOrder.hm10Clone: hm10(.clone, timeout ?? .seconds(1))
    case IdentificationOrder.bluno: bluno(timeout ?? .seconds(1))
    case IdentificationOrder.oldBluno: oldBluno(timeout ?? .seconds(1))
    default: nil
    }
  }

  /// Autopilots: listens for their heartbeats, which they send every second. Heartbeats of ground stations don't count.
  static func mavlink(_ timeout: Duration) -> NativeProbe {
    let probe = CodecProbe(MAVLinkCodec(), timeout: nil) { header, payload in
      guard case .heartbeat(let heartbeat) = MAVLinkMessage(header.message, payload: payload),
        heartbeat.type != MAVLinkHeartbeat.groundStation
      else { return nil }
      return [
        .init("system", "\(header.system)"), .init("type", heartbeat.typeWord ?? "\(heartbeat.type)"),
        .init("autopilot", heartbeat.autopilotName ?? "\(heartbeat.autopilot)"),
      ]
    }
    return NativeProbe(kind: IdentificationOrder.mavlink, probe: probe, times: 1, timeout: timeout)
  }

  /// AF1: sends IDENTIFY without HELLO, because HELLO would make the accessory forget the replies to another host.
  private static func af1(_ timeout: Duration) -> NativeProbe {
    let number: UInt16 = 0x4944
    var request: [UInt8] = []
    // A frame without a payload always fits.
    try? AF1Codec(maximumPayload: 1).encode(.request(.identify, number: number), payload: RawSpan(), into: &request)
    let probe = CodecProbe(AF1Codec(maximumPayload: 4_096), timeout: timeout) { header, payload in
      guard header.flags.contains(.reply), header.command == .identify, header.number == number else { return nil }
      guard let identity = try? AF1Identity(decoding: payload) else { return [] }
      return [
        ("identity.manufacturer", identity.manufacturer), ("identity.name", identity.name),
        ("identity.model", identity.model), ("identity.serial", identity.serialNumber),
        ("identity.firmware", identity.firmwareVersion),
      ].filter { !$0.1.isEmpty }.map { .init($0.0, $0.1) }
    }
    return NativeProbe(
      kind: IdentificationOrder.af1, probe: probe, sends: [.init(request)], timeout: timeout)
  }

  /// EV3: asks which handles are open, as the driver does when it makes contact.
  private static func ev3(_ timeout: Duration) -> NativeProbe {
    let number: UInt16 = 0x4944
    let code = EV3SystemCommand.listOpenHandles.code
    let request = try? EV3Message(number: number, type: .systemCommand, body: [code]).encoded()
    let probe = TextProbe(timeout: timeout) { bytes in
      for start in bytes.indices where bytes.count - start >= 7 {
        // The reply has no checksum, so everything known about it is compared.
        let length = Int(bytes[start]) | Int(bytes[start + 1]) << 8
        guard length >= 5, length <= bytes.count - start - 2,
          let message = try? EV3Message(decoding: Array(bytes[(start + 2)...].prefix(length))),
          message.number == number, message.type == .systemReply || message.type == .systemError,
          message.body.first == code
        else { continue }
        return []
      }
      return nil
    }
    return NativeProbe(
      kind: IdentificationOrder.ev3, probe: probe, sends: [.init(request ?? [])], times: 1, timeout: timeout)
  }

  private static func ev3OnNetwork(_ timeout: Duration) -> NativeProbe {
    let probe = TextProbe(timeout: timeout) { $0.starts(with: "Accept:EV3".utf8) ? [] : nil }
    return NativeProbe(
      kind: IdentificationOrder.ev3, probe: probe, sends: [.init(Array(EV3Greeting.request.utf8))], times: 1,
      timeout: timeout)
  }

  private static func hm10(_ dialect: HM10Dialect, _ timeout: Duration) -> NativeProbe {
    let isGenuine = dialect == .genuine
    let probe = TextProbe(timeout: timeout) { bytes in
      if isGenuine, bytes == Array("OK+LOST".utf8) { return [.init("connection", "was there, and was ended")] }
      return HM10Dialect(answer: bytes) == dialect ? [.init("dialect", isGenuine ? "genuine" : "clone")] : nil
    }
    return NativeProbe(
      kind: IdentificationOrder.hm10, probe: probe,
      sends: [.init((try? HM10Command.attention.encoded(for: dialect)) ?? [])], times: 1, timeout: timeout)
  }

  private static func bluno(_ timeout: Duration) -> NativeProbe {
    let probe = TextProbe(timeout: timeout) { BlunoReply(decoding: $0) == .enteredATMode ? [] : nil }
    return NativeProbe(
      kind: IdentificationOrder.bluno, probe: probe, sends: [.init(bytes(.toggle))], times: 1, farewell: bytes(.exit),
      timeout: timeout)
  }

  /// Older Bluno radios: they don't answer `+++`, which an earlier step has sent, but are in AT mode afterwards.
  private static func oldBluno(_ timeout: Duration) -> NativeProbe {
    let probe = TextProbe(timeout: timeout) { $0 == BlunoReply.ok.encoded ? [.init("radio", "before 1.8")] : nil }
    return NativeProbe(
      kind: IdentificationOrder.bluno, probe: probe, sends: [.init(bytes(.attention))], times: 1,
      farewell: bytes(.toggle), timeout: timeout)
  }

  private static func bytes(_ command: BlunoCommand) -> [UInt8] { (try? command.encoded()) ?? [] }
}
