// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// A command for an accessory, as it arrives on the topic `set`. It has one of three forms:
///
/// - empty, for a command without required arguments;
/// - a JSON object: `{"arguments": {"speed": 50}, "id": "7f3a"}`. The reply repeats the `id`, so that the sender can match them. Both
///   fields are optional;
/// - any other text, for a command with one argument: the argument's value. `50` means `{"arguments": {"speed": 50}}`.
package struct FleetCall: Sendable, Hashable {
  /// The arguments as text, as a user would type them.
  package var arguments: [String: String]
  /// The identifier that the reply repeats; nil for none.
  package var id: String?

  /// The longest `id`, in bytes.
  package static let idBytes = 64

  package init(_ arguments: [String: String] = [:], id: String? = nil) {
    (self.arguments, self.id) = (arguments, id)
  }

  /// The document: a JSON object.
  package var bytes: [UInt8] {
    var fields: [String: JSON] = ["arguments": .object(arguments.mapValues { .string($0) })]
    fields["id"] = id.map { .string($0) }
    return JSON.object(fields).bytes
  }

  /// Reads a message for `command`. Throws `misconfigured` if the form is wrong or the command doesn't accept an argument.
  package init(_ bytes: [UInt8], for command: CommandDescription) throws(AccessoryError) {
    do throws(FleetDocumentError) {
      try self.init(reading: bytes, command)
    } catch {
      throw AccessoryError(.misconfigured, "\(SafeText.escape(command.name)): \(error)")
    }
    try Self.check(arguments, of: command)
  }

  /// The `id` of a message; nil if it has none. Used to answer a message that isn't a valid call.
  package static func id(of bytes: [UInt8]) -> String? {
    guard let fields = try? FleetFields(bytes, limit: FleetLimits.callBytes) else { return nil }
    return try? fields.text("id", limit: idBytes)
  }

  private init(reading bytes: [UInt8], _ command: CommandDescription) throws(FleetDocumentError) {
    guard bytes.count <= FleetLimits.callBytes else {
      throw FleetDocumentError("the message has more than \(FleetLimits.callBytes) bytes")
    }
    let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    guard let first else {
      self.init()
      return
    }
    guard first != UInt8(ascii: "{") else {
      let fields = try FleetFields(bytes, limit: FleetLimits.callBytes)
      if let unknown = fields.names.first(where: { $0 != "arguments" && $0 != "id" }) {
        throw FleetDocumentError(
          "the message has a field \(SafeText.escape(unknown)): it has arguments and id, and nothing else")
      }
      self.init(try Self.arguments(fields), id: try fields.text("id", limit: Self.idBytes))
      return
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FleetDocumentError("the message is not UTF-8")
    }
    let required = command.arguments.filter { $0.defaultValue == nil }
    guard let argument = required.count == 1 ? required[0] : command.arguments.count == 1 ? command.arguments[0] : nil
    else {
      throw FleetDocumentError(
        command.arguments.isEmpty
          ? "it takes no argument: send an empty message" : "it has several arguments: send {\"arguments\": {…}}")
    }
    self.init([argument.name: text])
  }

  /// Converts numbers and truth values to the text that a user would type.
  private static func arguments(_ fields: FleetFields) throws(FleetDocumentError) -> [String: String] {
    guard let json = fields["arguments"] else { return [:] }
    guard let given = json.fields, given.count <= FleetLimits.arguments else {
      throw FleetDocumentError("arguments is not an object with at most \(FleetLimits.arguments) fields")
    }
    var arguments: [String: String] = [:]
    for (name, value) in given {
      switch value {
      case .string(let text): arguments[name] = text
      case .number(let digits): arguments[name] = wholeText(digits)
      case .bool(let flag): arguments[name] = flag ? "yes" : "no"
      default: throw FleetDocumentError("\(SafeText.escape(name)) is not a text, a number, or true or false")
      }
    }
    return arguments
  }

  /// A number as text. Some programs have only floating-point numbers and send 50.0 for 50.
  private static func wholeText(_ digits: String) -> String {
    guard let number = Double(digits), let whole = Int(exactly: number) else { return digits }
    return "\(whole)"
  }

  // MARK: - Checks

  /// Throws `misconfigured` for arguments that the command doesn't accept. The service checks them again; this check lets the
  /// publisher refuse them without asking it.
  private static func check(_ arguments: [String: String], of command: CommandDescription) throws(AccessoryError) {
    let name = SafeText.escape(command.name)
    func wrong(_ problem: String) -> AccessoryError { AccessoryError(.misconfigured, "\(name): \(problem)") }
    for argument in arguments.keys.sorted() where !command.arguments.contains(where: { $0.name == argument }) {
      throw wrong("there is no argument \(SafeText.escape(argument))")
    }
    for argument in command.arguments {
      guard let text = arguments[argument.name] else {
        if argument.defaultValue == nil { throw wrong("the argument \(SafeText.escape(argument.name)) is missing") }
        continue
      }
      guard argument.kind.value(text) != nil else {
        throw wrong(
          "\(SafeText.escape(argument.name)) can't be \(SafeText.escape(text)): it is \(SafeText.escape(argument.kind.form, limit: FleetLimits.textBytes))"
        )
      }
    }
  }
}
