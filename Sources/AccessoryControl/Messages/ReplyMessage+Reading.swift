// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// Parsing a service's replies. Does no I/O.

extension ReplyMessage {
  /// The reply to `method` in a message without its NUL, and whether more replies follow. Throws an error of the
  /// service as `answer`, and `badData` for an invalid reply or one beyond its limits, see `CheckedReply`.
  package static func read<Method: ControlMethod>(
    _ message: [UInt8], to method: Method.Type
  ) throws(ControlError) -> (reply: Method.Reply, continues: Bool) {
    let (parameters, continues) = try read(message)
    do {
      let reply: Method.Reply = try JSON.object(parameters).decoded()
      if let checked = reply as? any CheckedReply { try checked.check() }
      return (reply, continues)
    } catch {
      throw .connection(AccessoryError(.badData, "the reply to \(Method.method) is invalid: \(error)"))
    }
  }

  /// The fields of a reply to any method, and whether more replies follow. Throws as `read(_:to:)` does.
  package static func read(
    _ message: [UInt8]
  ) throws(ControlError) -> (parameters: [String: JSON], continues: Bool) {
    let json: JSON
    do throws(JSONError) { json = try JSON(message) } catch {
      throw .connection(AccessoryError(.badData, "a reply is not JSON: \(error)"))
    }
    guard let reply = ReplyMessage(json) else {
      throw .connection(AccessoryError(.badData, "a reply is JSON, but not a Varlink reply"))
    }
    switch reply.outcome {
    case .success(let parameters): return (parameters, reply.continues)
    case .failure(let error): throw .answer(error)
    }
  }
}
