// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What a raw request was answered.
package struct RequestDocument: Encodable {
  struct Reply: Encodable {
    let hex: String
    let size_bytes: Int
    /// What it says, by name; null where nobody knows.
    let fields: OrNull<[String: ValueDocument]>
  }

  let schema = DocumentSchema.name
  let device: DeviceDocument
  let command: String
  let command_byte: UInt8
  let reply: Reply

  /// The answer to a request: the command's name and byte, the payload that came, and what that says where it is known.
  package init(
    _ device: DeviceDocument, command: String, byte: UInt8, reply payload: [UInt8], fields: [String: PlainValue]? = nil
  ) {
    self.device = device
    self.command = command
    command_byte = byte
    reply = Reply(
      hex: Hexadecimal.string(payload), size_bytes: payload.count,
      fields: OrNull(fields?.mapValues { ValueDocument($0) }))
  }
}

/// What commands with names were answered.
package struct AnswersDocument: Encodable {
  struct Reply: Encodable {
    let command: String
    let values: [Value]
  }

  struct Value: Encodable {
    let name: String
    let unit: OrNull<String>
    let value: ValueDocument
  }

  let schema = DocumentSchema.name
  let device: DeviceDocument
  let replies: [Reply]

  /// The answers, in the order of the commands; none where none was waited for.
  package init(_ device: DeviceDocument, _ answers: [CommandAnswer]) {
    self.device = device
    replies = answers.map { answer in
      Reply(
        command: answer.command,
        values: answer.values.map { Value(name: $0.name, unit: OrNull($0.unit), value: ValueDocument($0.value)) })
    }
  }
}

/// A value as JSON has it, within other documents.
package struct ValueDocument: Encodable {
  private let value: PlainValue

  /// The document of a value.
  package init(_ value: PlainValue) { self.value = value }

  /// The whole numbers that every reader of JSON holds exactly.
  private static let exact = -(1 << 53)...(1 << 53)

  /// Writes the value by itself: bytes as a `BytesDocument`, and a whole number that not every reader would hold exactly as
  /// text.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .whole(let number) where !Self.exact.contains(number): try container.encode(String(number))
    case .whole(let number): try container.encode(number)
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let values): try container.encode(values.map { ValueDocument($0) })
    case .bytes(let bytes): try container.encode(BytesDocument(bytes))
    case .flag(let isSet): try container.encode(isSet)
    case .nothing: try container.encodeNil()
    }
  }
}
