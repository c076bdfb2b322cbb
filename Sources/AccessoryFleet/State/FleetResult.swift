// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The reply to a command, on its topic `result`, not retained. It has either `replies`, with the fields of `bridge-cli request
/// --json`, or `error`, with the fields of errors in `--json` output:
///
/// ```json
/// {"schema": "accessory-bridge-mqtt/1", "document": "result", "time": 1790000000.5, "id": "7f3a",
///  "replies": [{"command": "tacho", "values": [{"name": "tacho", "unit": "°", "value": 90}]}]}
/// {"schema": "accessory-bridge-mqtt/1", "document": "error", "time": 1790000000.5, "id": "7f3a",
///  "error": {"kind": "timed_out", "message": "…", "errno": null, "libusb": null, "refusal": null, "exit_status": 75}}
/// ```
package struct FleetResult: Sendable, Hashable {
  /// When this was published, in seconds since 1970.
  package var time: Double
  /// The `id` of the call; nil where it had none.
  package var id: String?
  /// The replies, or the error.
  package var outcome: Result<[CommandAnswer], AccessoryError>

  /// Creates a reply.
  package init(_ outcome: Result<[CommandAnswer], AccessoryError>, id: String?, at time: Double) {
    (self.outcome, self.id, self.time) = (outcome, id, time)
  }

  /// Creates the reply to a command that the service has performed.
  package init(_ reply: Bridge.Perform.Reply, to command: CommandDescription, id: String?, at time: Double) {
    self.init(.success(reply.replies.map { CommandAnswer(command, $0.values) }), id: id, at: time)
  }

  /// The document.
  package var bytes: [UInt8] {
    var fields: [String: JSON] = ["time": .number(time), "id": .text(id)]
    let kind: FleetDocuments.Kind
    switch outcome {
    case .success(let replies):
      kind = .result
      fields["replies"] = .of(WithNulls(replies))
    case .failure(let error):
      kind = .error
      fields["error"] = .error(error)
    }
    return JSON.document(kind, fields)
  }

  package init(_ bytes: [UInt8]) throws(FleetDocumentError) {
    let fields = try FleetFields(bytes, limit: FleetLimits.valuesBytes)
    guard let time = try fields.time("time") else { throw FleetDocumentError("time is missing") }
    let id = try fields.text("id", limit: FleetCall.idBytes)
    if let error = try fields.error("error") {
      self.init(.failure(error), id: id, at: time)
      return
    }
    guard let replies = try fields.list("replies", limit: FleetLimits.arguments) else {
      throw FleetDocumentError("replies and error are missing")
    }
    var read: [CommandAnswer] = []
    for reply in replies {
      let fields = try FleetFields(reply)
      guard let command = try fields.text("command"),
        let values = try fields.list("values", limit: ReadingLimits.values)
      else { throw FleetDocumentError("command or values is missing") }
      read.append(CommandAnswer(command, try values.map { json throws(FleetDocumentError) in try NamedValue(json) }))
    }
    self.init(.success(read), id: id, at: time)
  }
}

extension NamedValue {
  init(_ json: JSON) throws(FleetDocumentError) {
    let fields = try FleetFields(json)
    guard let name = try fields.text("name") else { throw FleetDocumentError("a value has no name") }
    self.init(
      name, unit: try fields.text("unit"),
      try fields["value"].map { json throws(FleetDocumentError) in
        try PlainValue(json)
      } ?? .nothing)
  }
}

extension PlainValue {
  /// Reads a value. The JSON reader limits the depth of lists, and the document's size limits their length.
  init(_ json: JSON) throws(FleetDocumentError) {
    switch json {
    case .null: self = .nothing
    case .bool(let flag): self = .flag(flag)
    case .number(let digits):
      if let whole = Int(digits) {
        self = .whole(whole)
      } else if let number = Double(digits), number.isFinite {
        self = .number(number)
      } else {
        throw FleetDocumentError("a number is out of range")
      }
    case .string(let text): self = .text(text)
    case .array(let values): self = .list(try values.map { json throws(FleetDocumentError) in try PlainValue(json) })
    case .object(let fields):
      guard let bytes = fields["hex"]?.text.flatMap({ Hexadecimal.bytes($0) }) else {
        throw FleetDocumentError("a value has another form")
      }
      self = .bytes(bytes)
    }
  }
}
