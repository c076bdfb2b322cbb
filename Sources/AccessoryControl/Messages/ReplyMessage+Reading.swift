// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// What a client makes of a service's bytes. Pure: no I/O.

extension ReplyMessage {
  /// The answer to `method` in a message without its NUL, and whether more will follow. Throws an error of the service
  /// as `answer`; `badData` when the message is no answer, or one that no service can mean: see `CheckedReply`.
  package static func read<Method: ControlMethod>(
    _ message: [UInt8], to method: Method.Type
  ) throws(ControlError) -> (reply: Method.Reply, continues: Bool) {
    let (parameters, continues) = try read(message)
    do {
      let reply: Method.Reply = try JSON.object(parameters).decoded()
      if let checked = reply as? any CheckedReply { try checked.check() }
      return (reply, continues)
    } catch {
      throw .connection(AccessoryError(.badData, "the answer to \(Method.method) is not as it should be: \(error)"))
    }
  }

  /// The fields of an answer of any method, and whether more will follow. Throws as above.
  package static func read(
    _ message: [UInt8]
  ) throws(ControlError) -> (parameters: [String: JSON], continues: Bool) {
    let json: JSON
    do throws(JSONError) { json = try JSON(message) } catch {
      throw .connection(AccessoryError(.badData, "an answer is not JSON: \(error)"))
    }
    guard let reply = ReplyMessage(json) else {
      throw .connection(AccessoryError(.badData, "an answer is JSON, but no answer"))
    }
    switch reply.outcome {
    case .success(let parameters): return (parameters, reply.continues)
    case .failure(let error): throw .answer(error)
    }
  }
}
