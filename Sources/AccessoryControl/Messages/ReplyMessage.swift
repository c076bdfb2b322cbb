// SPDX-License-Identifier: Apache-2.0

/// A server's message: a reply.
package struct ReplyMessage: Sendable, Hashable {
  /// The reply's fields, or the error.
  package var outcome: Result<[String: JSON], CallError>
  /// Whether more replies to the same call follow.
  package var continues = false

  /// A reply with these fields.
  package init(_ parameters: [String: JSON], continues: Bool = false) {
    outcome = .success(parameters)
    self.continues = continues
  }

  /// An error, which ends the call.
  package init(_ error: CallError) { outcome = .failure(error) }

  /// Reads a reply from a message; nil where the message is not a reply.
  package init?(_ message: JSON) {
    guard let fields = message.fields else { return nil }
    let parameters: [String: JSON]
    switch fields["parameters"] {
    case nil, .null: parameters = [:]
    case .object(let given): parameters = given
    default: return nil
    }
    switch fields["error"] {
    case nil, .null: outcome = .success(parameters)
    case .string(let name): outcome = .failure(CallError(name: name, parameters: parameters))
    default: return nil
    }
    switch fields["continues"] {
    case nil, .null: break
    case .bool(let value): continues = value
    default: return nil
    }
  }

  /// The message with its terminating NUL.
  package var bytes: [UInt8] {
    var fields: [String: JSON] = [:]
    switch outcome {
    case .success(let parameters): fields["parameters"] = .object(parameters)
    case .failure(let error):
      fields["error"] = .string(error.name)
      fields["parameters"] = .object(error.parameters)
    }
    if continues { fields["continues"] = .bool(true) }
    return JSON.object(fields).bytes + [0]
  }
}
