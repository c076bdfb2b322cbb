// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The limits of messages from a broker. Anybody who may publish chooses their size and number, so larger ones are refused.
package enum FleetLimits {
  /// The longest state, info, event or result, in bytes.
  package static let documentBytes = 64 << 10
  /// The longest list of values, in bytes: 255 values with all their texts.
  package static let valuesBytes = 256 << 10
  /// The longest call of a command, in bytes.
  package static let callBytes = 16 << 10
  /// The longest text of a device or an identity, in bytes.
  package static let textBytes = 1_024
  /// The most arguments of a call, and the most replies and values of a result.
  package static let arguments = 64
}

/// Why a message doesn't have the content that its topic requires.
package struct FleetDocumentError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason in words.
  package let description: String

  init(_ description: String) { self.description = description }
}

/// The fields of a JSON object from a broker.
struct FleetFields {
  private let fields: [String: JSON]

  /// Reads a JSON object of at most `limit` bytes.
  init(_ bytes: [UInt8], limit: Int) throws(FleetDocumentError) {
    guard bytes.count <= limit else { throw FleetDocumentError("more than \(limit) bytes") }
    let json: JSON
    do {
      json = try JSON(bytes)
    } catch {
      throw FleetDocumentError("not JSON: \(error)")
    }
    try self.init(json)
  }

  init(_ json: JSON) throws(FleetDocumentError) {
    guard let fields = json.fields else { throw FleetDocumentError("not a JSON object") }
    self.fields = fields
  }

  /// The field; nil where it is missing or null.
  subscript(name: String) -> JSON? {
    guard let field = fields[name], field != .null else { return nil }
    return field
  }

  /// A text of at most `limit` bytes; nil where it is missing or null.
  func text(_ name: String, limit: Int = FleetLimits.textBytes) throws(FleetDocumentError) -> String? {
    guard let field = self[name] else { return nil }
    guard let text = field.text, text.utf8.count <= limit else {
      throw FleetDocumentError("\(name) is not a text of at most \(limit) bytes")
    }
    return text
  }

  func flag(_ name: String) throws(FleetDocumentError) -> Bool? {
    switch self[name] {
    case nil: return nil
    case .bool(let flag): return flag
    default: throw FleetDocumentError("\(name) is not true or false")
    }
  }

  /// A number within `limits`; nil where it is missing or null.
  func number(_ name: String, _ limits: ClosedRange<Double>) throws(FleetDocumentError) -> Double? {
    guard let field = self[name] else { return nil }
    guard case .number(let digits) = field, let number = Double(digits), limits.contains(number) else {
      throw FleetDocumentError("\(name) is not a number in range")
    }
    return number
  }

  /// A whole number within `limits`; nil where it is missing or null.
  func whole(_ name: String, _ limits: ClosedRange<Int>) throws(FleetDocumentError) -> Int? {
    guard let field = self[name] else { return nil }
    guard case .number(let digits) = field, let number = Int(digits), limits.contains(number) else {
      throw FleetDocumentError("\(name) is not a whole number in range")
    }
    return number
  }

  /// A list with at most `limit` elements; nil where it is missing or null.
  func list(_ name: String, limit: Int) throws(FleetDocumentError) -> [JSON]? {
    guard let field = self[name] else { return nil }
    guard case .array(let elements) = field, elements.count <= limit else {
      throw FleetDocumentError("\(name) is not a list of at most \(limit)")
    }
    return elements
  }

  /// A time in seconds since 1970; nil where it is missing or null.
  func time(_ name: String) throws(FleetDocumentError) -> Double? { try number(name, ReplyLimits.seconds) }

  /// A value of the control socket's interface, within its limits; nil if it is missing or null.
  func value<Value: Decodable>(
    _ name: String, as type: Value.Type = Value.self
  ) throws(FleetDocumentError) -> Value? {
    guard let field = self[name] else { return nil }
    return try Self.value(field, name)
  }

  static func value<Value: Decodable>(
    _ json: JSON, _ name: String, as type: Value.Type = Value.self
  ) throws(FleetDocumentError) -> Value {
    let value: Value
    do {
      value = try json.decoded(as: Value.self)
      try (value as? any CheckedReply)?.check()
    } catch let error as ReplyNumberError {
      throw FleetDocumentError("\(name): \(error)")
    } catch {
      throw FleetDocumentError("\(name) has another form")
    }
    return value
  }

  /// The object's fields; nil where it is missing or null.
  func object(_ name: String) throws(FleetDocumentError) -> FleetFields? {
    guard let field = self[name] else { return nil }
    return try FleetFields(field)
  }

  /// An error; nil where it is missing or null.
  func error(_ name: String) throws(FleetDocumentError) -> AccessoryError? {
    try value(name, as: PublishedError.self)?.error
  }

  var names: [String] { fields.keys.sorted() }
}

extension JSON {
  /// A number; null if there is none or JSON can't express it.
  static func number(_ number: Double?) -> JSON {
    guard let number, number.isFinite else { return .null }
    return .number(Int(exactly: number).map { "\($0)" } ?? "\(number)")
  }

  static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

  static func whole(_ number: (some BinaryInteger)?) -> JSON { number.map { .int($0) } ?? .null }

  static func flag(_ flag: Bool?) -> JSON { flag.map { .bool($0) } ?? .null }

  /// A value of the control socket's interface. Null if JSON can't express it: an infinite number.
  static func of(_ value: (some Encodable)?) -> JSON {
    guard let value else { return .null }
    return (try? JSON(encoding: value)) ?? .null
  }

  /// An error, with the fields of those that commands print with `--json`.
  static func error(_ error: AccessoryError?) -> JSON { .of(error.map { WithNulls(PublishedError($0)) }) }

  static func problem(_ problem: Bridge.Problem?) -> JSON { .error(problem?.error(or: .ioFailure)) }

  /// Writes a document: its fields, its kind and the name of its schema.
  static func document(_ kind: FleetDocuments.Kind, _ fields: [String: JSON]) -> [UInt8] {
    var fields = fields
    fields["schema"] = .string(FleetDocuments.schema)
    fields["document"] = .string(kind.rawValue)
    return JSON.object(fields).bytes
  }
}

/// The JSON documents on a fleet's topics, described by Documentation/schema/mqtt-1.schema.json. Fields have the same names and
/// meanings as in the output of `bridge-cli --json`. Readers ignore unknown fields, and fields are only ever added, so gateways of
/// different versions can share a broker.
package enum FleetDocuments {
  /// The schema name of all documents. Readers ignore it: earlier publishers named the same documents `accessory-bridge/2`.
  package static let schema = "accessory-bridge-mqtt/1"

  /// The kinds of documents: the value of the field `document`.
  package enum Kind: String, Sendable, CaseIterable {
    case state, values, event, info, result
    /// A result with an error.
    case error
  }
}
