// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

/// A trace, a line an entry.
struct TraceView: Sendable {
  let json: Bool
  /// Whether all bytes of a long frame are shown.
  let full: Bool

  private static let shownBytes = 24

  func show(_ entry: TraceEntry) {
    if json { return Output.json(TraceDocument(entry)) }
    Output.line(line(entry))
  }

  /// An entry for people.
  func line(_ entry: TraceEntry) -> String {
    let style = Style.standardOutput
    let time = Recording.seconds(entry.time).dropLast(3)
    let arrow = entry.direction == .fromDevice ? "<" : ">"
    switch entry.content {
    case .lost(let count):
      return "\(style.dim(padded(time)))  !  \(style.red("\(count) bytes are missing here: they came too fast"))"
    case .noise(let count):
      return "\(style.dim(padded(time)))  \(arrow)  \(style.red("\(count) bytes that are no frame"))"
    case .bytes(let bytes):
      let shown = Hex.text(full ? bytes[...] : bytes.prefix(Self.shownBytes))
      return "\(style.dim(padded(time)))  \(arrow)  \(hex(bytes))  \(style.dim("|\(shown)|"))"
    case .frame(let header, let outcome, let payload):
      let what = "\(header.kind) \(header.command.name) #\(header.number)"
      let text = outcome == .whole ? AF1Text.summary(header, payload) : outcome.problem(header)
      let bytes = outcome == .whole ? "  " + style.dim(hex(Self.bytes(header, payload))) : ""
      let title = outcome == .whole ? (header.flags.contains(.refused) ? style.yellow(what) : what) : style.red(what)
      return "\(style.dim(padded(time)))  \(arrow)  \(title)  \(text)\(bytes)"
    }
  }

  private func padded(_ time: Substring) -> String {
    String(repeating: " ", count: max(0, 12 - time.count)) + time
  }

  private func hex(_ bytes: [UInt8]) -> String {
    let shown = full ? bytes[...] : bytes.prefix(Self.shownBytes)
    return Hexadecimal.string(shown) + (shown.count < bytes.count ? "… (\(bytes.count) bytes)" : "")
  }

  static func bytes(_ header: AF1Header, _ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    try? AF1Codec(maximumPayload: Int(UInt16.max)).encode(header, payload: payload, into: &bytes)
    return bytes
  }
}

extension AF1Header {
  /// What the flags make of a frame.
  var kind: String {
    if flags.contains(.event) { return "event" }
    if flags.contains(.refused) { return "refusal" }
    return flags.contains(.reply) ? "reply" : "request"
  }
}

extension FrameOutcome {
  /// What is wrong with a frame.
  func problem(_ header: AF1Header) -> String {
    switch self {
    case .whole: ""
    case .payloadDamaged: "damaged: the payload's checksum fails"
    case .tooLong: "too long: \(header.payloadLength) bytes"
    case .otherVersion: "of protocol version \(header.version)"
    case .malformed: "malformed"
    }
  }
}

/// The messages of AF1 in words.
enum AF1Text {
  static func summary(_ header: AF1Header, _ payload: [UInt8]) -> String {
    if header.flags.contains(.refused) { return AF1RefusalReason(rawValue: payload.first ?? 0).description }
    let isRequest = header.flags.isDisjoint(with: [.reply, .event])
    switch (header.command, isRequest) {
    case (.hello, true):
      return read(AF1HelloRequest.self, payload) { "nonce \(number($0.nonce))" }
    case (.hello, false):
      return read(AF1HelloReply.self, payload) {
        "boot id \(number($0.bootID)), payloads up to \($0.largestPayload) bytes, window \($0.window)"
      }
    case (.identify, false):
      return read(AF1Identity.self, payload) {
        [$0.manufacturer, $0.name, $0.model, $0.serialNumber].map { SafeText.escape($0, limit: 32) }
          .joined(separator: ", ")
      }
    case (.status, false):
      return read(AF1StatusReply.self, payload) {
        "\($0.state), fault \($0.faultCode)" + ($0.progress.map { ", \($0) %" } ?? "")
      }
    case (.battery, false):
      return read(AF1BatteryReply.self, payload) {
        "\($0.level)" + ($0.percent.map { ", \($0) %" } ?? "") + ($0.millivolts.map { ", \($0) mV" } ?? "")
          + ($0.charge == .unknown ? "" : ", \($0.charge)")
      }
    default:
      return payload.isEmpty ? "" : "\(payload.count) bytes |\(Hex.text(payload.prefix(16)))|"
    }
  }

  private static func read<Message: AF1Payload>(
    _ type: Message.Type, _ payload: [UInt8], _ text: (Message) -> String
  ) -> String {
    do throws(AF1PayloadError) {
      return text(try Message(decoding: payload))
    } catch {
      return "unreadable: \(error)"
    }
  }

  private static func number(_ value: UInt32) -> String {
    Hexadecimal.string(withUnsafeBytes(of: value.bigEndian) { Array($0) })
  }
}
