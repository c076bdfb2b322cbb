// SPDX-License-Identifier: Apache-2.0

/// A client's message: a call.
package struct CallMessage: Sendable, Hashable {
  /// The method's name, preceded by the interface's ("accessorybridge.Bridge.List").
  package var method: String
  /// The method's parameters.
  package var parameters: [String: JSON] = [:]
  /// Whether the server sends no reply.
  package var oneway = false
  /// Whether the client accepts several replies.
  package var more = false
  /// Whether the connection carries raw bytes after the reply.
  package var upgrade = false

  /// A call of `method`.
  package init(
    method: String, parameters: [String: JSON] = [:], oneway: Bool = false, more: Bool = false, upgrade: Bool = false
  ) {
    self.method = method
    self.parameters = parameters
    self.oneway = oneway
    self.more = more
    self.upgrade = upgrade
  }

  /// Reads a call from a message. Throws `InvalidParameter` where the message is JSON but not a call.
  package init(_ message: JSON) throws(CallError) {
    guard let fields = message.fields else { throw .invalidParameter("message") }
    guard let method = fields["method"]?.text else { throw .invalidParameter("method") }
    self.method = method
    switch fields["parameters"] {
    case nil, .null: break
    case .object(let parameters): self.parameters = parameters
    default: throw .invalidParameter("parameters")
    }
    oneway = try Self.flag("oneway", fields)
    more = try Self.flag("more", fields)
    upgrade = try Self.flag("upgrade", fields)
  }

  private static func flag(_ name: String, _ fields: [String: JSON]) throws(CallError) -> Bool {
    switch fields[name] {
    case nil, .null: false
    case .bool(let value): value
    default: throw .invalidParameter(name)
    }
  }

  /// The message with its terminating NUL.
  package var bytes: [UInt8] {
    var fields: [String: JSON] = ["method": .string(method), "parameters": .object(parameters)]
    for (name, value) in [("oneway", oneway), ("more", more), ("upgrade", upgrade)] where value {
      fields[name] = .bool(true)
    }
    return JSON.object(fields).bytes + [0]
  }
}
