// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The reply to a raw request.
package struct RequestDocument: Encodable {
  struct Reply: Encodable {
    let hex: String
    let size_bytes: Int
    /// The decoded fields by name; null where the payload can't be decoded.
    let fields: [String: PlainValue]?
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
      fields: fields)
  }
}

/// The replies to named commands.
package struct AnswersDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.replies
  let device: DeviceDocument
  let replies: [CommandAnswer]

  /// The replies in the order of the commands; empty where no reply was awaited.
  package init(_ device: DeviceDocument, _ answers: [CommandAnswer]) {
    (self.device, replies) = (device, answers)
  }
}
