// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Decodes calls and passes them to the handler, after checking the parameters against the interface's definition. Runs
/// in tasks, never on the I/O thread.
struct Dispatcher: Sendable {
  /// The result of a message.
  enum Outcome: Sendable {
    /// A reply; nil for a call that wants none.
    case reply(ReplyMessage?)
    /// A reply, after which `serve` takes the connection over.
    case upgrade(ReplyMessage, serve: @Sendable (any Transport) async -> Void)
    /// The message is invalid, so nothing after it can be trusted.
    case close(ReplyMessage)
  }

  let handler: any BridgeHandler
  /// The paths of the server's sockets, for errors.
  let places: SocketPlaces
  let bridge: InterfaceDescription
  let service: InterfaceDescription

  /// Throws when a definition that is built into the program has an error.
  init(_ handler: any BridgeHandler, _ places: SocketPlaces) throws(InterfaceError) {
    (self.handler, self.places) = (handler, places)
    bridge = try InterfaceDescription(Bridge.text)
    service = try InterfaceDescription(ServiceInterface.text)
  }

  /// Sends a reply that isn't the last. With `waits` it first waits while the client has many unread bytes.
  typealias Sender = @Sendable (_ reply: ReplyMessage, _ waits: Bool) async throws(CallError) -> Void

  /// Handles one message. `isGone` returns whether the client has disconnected.
  func perform(
    _ message: [UInt8], from caller: Caller, isGone: () async -> Bool,
    send: @escaping Sender
  ) async -> Outcome {
    let json: JSON
    do throws(JSONError) {
      json = try JSON(message)
    } catch {
      return .close(ReplyMessage(CallError(AccessoryError(.badData, "a message is not JSON: \(error)"))))
    }
    let call: CallMessage
    do throws(CallError) {
      call = try CallMessage(json)
    } catch {
      return .reply(ReplyMessage(error))
    }
    if !call.oneway, await isGone() { return .reply(nil) }
    do throws(CallError) {
      let outcome = try await answer(call, caller, send)
      if call.oneway { return .reply(nil) }
      return outcome
    } catch {
      return .reply(call.oneway ? nil : ReplyMessage(error))
    }
  }

  private func answer(
    _ call: CallMessage, _ caller: Caller, _ send: @escaping Sender
  ) async throws(CallError) -> Outcome {
    try check(call, caller)
    switch call.method {
    case "org.varlink.service.GetInfo": return .reply(try information())
    case "org.varlink.service.GetInterfaceDescription":
      let name = call.parameters["interface"]?.text ?? ""
      guard let interface = [bridge, service].first(where: { $0.name == name }) else { throw .interfaceNotFound(name) }
      return .reply(ReplyMessage(["description": .string(interface.text)]))
    case Bridge.GetService.method: return try await once(call, caller, handler.service)
    case Bridge.List.method: return try await once(call, caller, handler.list)
    case Bridge.GetInfo.method: return try await once(call, caller, handler.info)
    case Bridge.GetStatus.method: return try await once(call, caller, handler.status)
    case Bridge.GetBattery.method: return try await once(call, caller, handler.battery)
    case Bridge.GetValues.method: return try await once(call, caller, handler.values)
    case Bridge.GetHistory.method: return try await once(call, caller, handler.history)
    case Bridge.Request.method:
      try checkBytes("payload_hex", call)
      return try await once(call, caller, handler.request)
    case Bridge.GetCommands.method: return try await once(call, caller, handler.commands)
    case Bridge.Perform.method: return try await once(call, caller, handler.perform)
    case Bridge.ListFolder.method: return try await once(call, caller, handler.listFolder)
    case Bridge.MakeFolder.method: return try await once(call, caller, handler.makeFolder)
    case Bridge.Remove.method: return try await once(call, caller, handler.remove)
    case Bridge.GetFile.method: return try await many(call, caller, send, handler.getFile)
    case Bridge.SendFile.method: return try await many(call, caller, send, handler.sendFile)
    case Bridge.SupplyFile.method:
      try checkBytes("bytes_hex", call)
      return try await once(call, caller, handler.supplyFile)
    case Bridge.Attach.method: return try await once(call, caller, handler.attach)
    case Bridge.Expect.method: return try await once(call, caller, handler.expect)
    case Bridge.Detach.method: return try await once(call, caller, handler.detach)
    case Bridge.Name.method: return try await once(call, caller, handler.name)
    case Bridge.Forget.method: return try await once(call, caller, handler.forget)
    case Bridge.Subscribe.method: return try await stream(call, caller, send, handler.subscribe)
    case Bridge.Trace.method: return try await stream(call, caller, send, handler.trace)
    case Bridge.Open.method:
      guard call.upgrade, !call.oneway else { throw .invalidParameter("upgrade") }
      let opened = try await handler.open(Self.parameters(call), from: caller)
      return .upgrade(try Self.message(opened.reply), serve: opened.serve)
    case Bridge.Share.method:
      guard call.upgrade, !call.oneway else { throw .invalidParameter("upgrade") }
      let shared = try await handler.share(Self.parameters(call), from: caller)
      return .upgrade(try Self.message(shared.reply), serve: shared.serve)
    default:
      guard let method = Self.lineMethods[call.method] else { throw .methodNotImplemented(call.method) }
      return try await onLine(method, call, caller)
    }
  }

  private static let lineMethods: [String: any LineMethod.Type] = [
    Bridge.GetLineStatus.method: Bridge.GetLineStatus.self, Bridge.ChangeLine.method: Bridge.ChangeLine.self,
    Bridge.GetModemLines.method: Bridge.GetModemLines.self, Bridge.SetModemLines.method: Bridge.SetModemLines.self,
    Bridge.SetBreak.method: Bridge.SetBreak.self, Bridge.Purge.method: Bridge.Purge.self,
  ]

  private func onLine<Method: LineMethod>(
    _ method: Method.Type, _ call: CallMessage, _ caller: Caller
  ) async throws(CallError) -> Outcome {
    try await once(call, caller) { (call: Method, caller) throws(CallError) in
      try await handler.onLine(call, from: caller)
    }
  }

  /// Throws unless the method exists, the caller's socket permits it, and the parameters match its definition.
  private func check(_ call: CallMessage, _ caller: Caller) throws(CallError) {
    guard let dot = call.method.lastIndex(of: ".") else { throw .interfaceNotFound(call.method) }
    let name = String(call.method[..<dot])
    guard let interface = [bridge, service].first(where: { $0.name == name }) else { throw .interfaceNotFound(name) }
    guard let method = interface.methods[String(call.method[dot...].dropFirst())] else {
      throw .methodNotFound(call.method)
    }
    try caller.access.check(call.method, places)
    if let problem = interface.firstProblem(in: call.parameters, method.input) { throw .invalidParameter(problem) }
  }

  private func checkBytes(_ field: String, _ call: CallMessage) throws(CallError) {
    if let digits = call.parameters[field]?.text, Hexadecimal.bytes(digits) == nil { throw .invalidParameter(field) }
  }

  private func information() throws(CallError) -> ReplyMessage {
    var message = try Self.message(handler.information)
    message.outcome = message.outcome.map {
      $0.merging(["interfaces": .array([.string(service.name), .string(bridge.name)])]) { $1 }
    }
    return message
  }

  private func once<Method: ControlMethod>(
    _ call: CallMessage, _ caller: Caller, _ body: (Method, Caller) async throws(CallError) -> Method.Reply
  ) async throws(CallError) -> Outcome {
    .reply(try Self.message(try await body(try Self.parameters(call), caller)))
  }

  /// A call with replies until the client disconnects.
  private func stream<Method: ControlMethod>(
    _ call: CallMessage, _ caller: Caller, _ send: @escaping Sender,
    _ body: (Method, Caller, ReplySender<Method.Reply>) async throws(CallError) -> Void
  ) async throws(CallError) -> Outcome {
    guard call.more, !call.oneway else { throw .expectedMore }
    try await body(try Self.parameters(call), caller, Self.answers(send))
    throw CallError(AccessoryError(.cancelled, "the service has ended this stream of replies"))
  }

  /// A call with several replies, the last of which is returned.
  private func many<Method: ControlMethod>(
    _ call: CallMessage, _ caller: Caller, _ send: @escaping Sender,
    _ body: (Method, Caller, ReplySender<Method.Reply>) async throws(CallError) -> Method.Reply
  ) async throws(CallError) -> Outcome {
    guard call.more, !call.oneway else { throw .expectedMore }
    return .reply(try Self.message(try await body(try Self.parameters(call), caller, Self.answers(send))))
  }

  private static func answers<Reply>(_ send: @escaping Sender) -> ReplySender<Reply> {
    ReplySender { reply, waits throws(CallError) in
      var message = try Self.message(reply)
      message.continues = true
      try await send(message, waits)
    }
  }

  private static func parameters<Method: ControlMethod>(_ call: CallMessage) throws(CallError) -> Method {
    do {
      return try JSON.object(call.parameters).decoded()
    } catch let error as DecodingError {
      throw .invalidParameter(error.field)
    } catch {
      throw .invalidParameter("parameters")
    }
  }

  private static func message(_ reply: some Encodable) throws(CallError) -> ReplyMessage {
    guard let fields = (try? JSON(encoding: reply))?.fields else {
      throw CallError(AccessoryError(.badData, "the reply can't be encoded as JSON"))
    }
    return ReplyMessage(fields)
  }
}

extension DecodingError {
  /// The field that could not be decoded ("usb.bus").
  fileprivate var field: String {
    let context: Context
    switch self {
    case .typeMismatch(_, let its), .valueNotFound(_, let its), .keyNotFound(_, let its), .dataCorrupted(let its):
      context = its
    @unknown default: return "parameters"
    }
    return context.codingPath.map(\.stringValue).joined(separator: ".")
  }
}
