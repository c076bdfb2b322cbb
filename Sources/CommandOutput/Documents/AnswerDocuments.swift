// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The reply to a raw request.
package struct RequestDocument: Encodable {
  struct Reply: Encodable {
    let hex: String
    let size_bytes: Int
    /// The decoded fields by name; null where the payload can't be decoded.
    let fields: OrNull<[String: ValueDocument]>
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.request
  let device: DeviceDocument
  let command: String
  let command_byte: UInt8
  let reply: Reply

  /// The reply to a request: the command's name and byte, the reply's payload, and its decoded fields where they are
  /// known.
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

/// The replies to named commands.
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
  let document = DocumentKind.replies
  let device: DeviceDocument
  let replies: [Reply]

  /// The replies in the order of the commands; empty where no reply was awaited.
  package init(_ device: DeviceDocument, _ answers: [CommandAnswer]) {
    self.device = device
    replies = answers.map { answer in
      Reply(
        command: answer.command,
        values: answer.values.map { Value(name: $0.name, unit: OrNull($0.unit), value: ValueDocument($0.value)) })
    }
  }
}

/// A value, as a part of other documents.
package struct ValueDocument: Encodable {
  private let value: PlainValue

  /// The document of a value.
  package init(_ value: PlainValue) { self.value = value }

  /// The whole numbers that every JSON parser reads exactly.
  private static let exact = -(1 << 53)...(1 << 53)

  /// Writes the bare value. Bytes are written as a `BytesDocument`; a whole number beyond ±2⁵³ is written as text,
  /// since some parsers would round it.
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
