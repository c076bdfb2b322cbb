// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Describes AF1 frames in words, for a trace.
enum AF1Words {
  /// A reader of AF1 frames with payloads of any length.
  static var reader: CodecFrameReader<AF1Codec> {
    CodecFrameReader(AF1Codec(maximumPayload: Int(UInt16.max))) { header, outcome, payload, _ in
      words(header, outcome, payload)
    }
  }

  private static func words(_ header: AF1Header, _ outcome: FrameOutcome, _ payload: [UInt8]) -> FrameWords {
    let kind =
      if header.flags.contains(.event) { "event" } else if header.flags.contains(.refused) { "refusal" } else {
        header.flags.contains(.reply) ? "reply" : "request"
      }
    let text: (summary: String, fields: [FrameField]) =
      outcome == .whole ? message(header.command, header.flags, payload) : (problem(outcome, header), [])
    var words = FrameWords(
      "AF1", kind, title: "\(kind) \(header.command.name) #\(header.number)", command: header.command.name.lowercased(),
      commandByte: header.command.rawValue, number: header.number, summary: text.summary, fields: text.fields)
    words.isRefusal = header.flags.contains(.refused)
    return words
  }

  /// Describes the reply to a command. Returns nil when the reply's format isn't known, or the payload doesn't have it.
  static func reply(_ payload: [UInt8], to command: AF1Command) -> (summary: String, fields: [FrameField])? {
    let said = message(command, .reply, payload)
    return said.fields.isEmpty ? nil : said
  }

  private static func problem(_ outcome: FrameOutcome, _ header: AF1Header) -> String {
    switch outcome {
    case .tooLong: "too long: \(header.payloadLength) bytes"
    case .otherVersion: "of protocol version \(header.version)"
    default: FrameWords.problem(outcome) ?? ""
    }
  }

  private static func message(
    _ command: AF1Command, _ flags: AF1Header.Flags, _ payload: [UInt8]
  ) -> (summary: String, fields: [FrameField]) {
    if flags.contains(.refused) {
      let reason = AF1RefusalReason(rawValue: payload.first ?? 0)
      return (reason.description, [.init("reason", reason.rawValue)])
    }
    let isRequest = flags.isDisjoint(with: [.reply, .event])
    let preview = FrameWords.preview(payload)
    switch (command, isRequest) {
    case (.hello, true):
      return read(AF1HelloRequest.self, payload) {
        let nonce = Hexadecimal.string($0.nonce)
        return ("nonce \(nonce)", [.init("nonce", nonce)])
      }
    case (.hello, false):
      return read(AF1HelloReply.self, payload) {
        let bootID = Hexadecimal.string($0.bootID)
        return (
          "boot id \(bootID), payloads up to \($0.largestPayload) bytes, window \($0.window)",
          [
            .init("boot_id", bootID), .init("largest_payload_bytes", $0.largestPayload), .init("window", $0.window),
          ]
        )
      }
    case (.identify, false):
      return read(AF1Identity.self, payload) {
        (
          [$0.manufacturer, $0.name, $0.model, $0.serialNumber].map { SafeText.escape($0, limit: 32) }
            .joined(separator: ", "),
          [
            .init("manufacturer", $0.manufacturer), .init("name", $0.name), .init("model", $0.model),
            .init("serial", $0.serialNumber), .init("firmware", $0.firmwareVersion),
            .init("hardware", $0.hardwareVersion),
          ]
        )
      }
    case (.status, false):
      return read(AF1StatusReply.self, payload) {
        (
          "\($0.state), fault \($0.faultCode)" + ($0.progress.map { ", \($0) %" } ?? ""),
          [.init("state", FrameField.word($0.state)), .init("fault_code", $0.faultCode)]
            + ($0.progress.map { [.init("progress_percent", $0)] } ?? [])
        )
      }
    case (.battery, false):
      return read(AF1BatteryReply.self, payload) {
        (
          "\($0.level)" + ($0.percent.map { ", \($0) %" } ?? "") + ($0.millivolts.map { ", \($0) mV" } ?? "")
            + ($0.charge == .unknown ? "" : ", \($0.charge)"),
          [.init("level", FrameField.word($0.level))] + FrameField.battery(.percent, $0.percent)
            + FrameField.battery(.voltage, $0.millivolts) + [.init("charge", FrameField.word($0.charge))]
        )
      }
    case (.transferBegin, true):
      return (
        preview,
        fields(AF1TransferBeginRequest.self, payload) {
          [
            .init("file_kind", $0.kind.rawValue), .init("size_bytes", $0.size),
            .init("crc32", Hexadecimal.string($0.checksum)), .init("name", $0.name),
          ]
        }
      )
    case (.transferBegin, false):
      return (
        preview,
        fields(AF1TransferBeginReply.self, payload) {
          [.init("chunk_bytes", $0.chunkSize), .init("resume_offset", $0.resumeOffset)]
        }
      )
    case (.transferData, true):
      return (
        preview,
        fields(AF1TransferDataRequest.self, payload) {
          [.init("offset", $0.offset), .init("data_bytes", $0.data.count)]
        }
      )
    default: return (preview, [])
    }
  }

  private static func read<Message: AF1Payload>(
    _ type: Message.Type, _ payload: [UInt8], _ text: (Message) -> (String, [FrameField])
  ) -> (String, [FrameField]) {
    do throws(AF1PayloadError) {
      return text(try Message(decoding: payload))
    } catch {
      return ("unreadable: \(error)", [])
    }
  }

  private static func fields<Message: AF1Payload>(
    _ type: Message.Type, _ payload: [UInt8], _ fields: (Message) -> [FrameField]
  ) -> [FrameField] { (try? Message(decoding: payload)).map(fields) ?? [] }
}
