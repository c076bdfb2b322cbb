// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// The caller of a method. Its user may use the socket: root, the server's user, or a member of the socket's group.
package struct Caller: Sendable {
  /// The process that connected.
  package let peer: SocketPeer
}

/// Takes the answers to a call with more than one. Throws when the client is gone, or reads so slowly that it was
/// disconnected; then there is nobody left to answer.
package struct Answers<Reply: Codable & Sendable>: Sendable {
  let body: @Sendable (Reply, _ waits: Bool) async throws(CallError) -> Void

  /// Sends one answer. Doesn't wait for the client to read it.
  package func send(_ reply: Reply) async throws(CallError) { try await body(reply, false) }

  /// Sends one answer, and waits while the client has much to read: for what can wait.
  package func sendWhenRead(_ reply: Reply) async throws(CallError) { try await body(reply, true) }
}

/// The result of `Open`.
package struct OpenResult: Sendable {
  /// Which device it is, and what belongs to the loan.
  package let reply: Bridge.Open.Reply
  /// Copies bytes between the accessory and the client, both ways. The client's channel is closed when this returns;
  /// when the client goes, its input ends with `disconnected`. The task is cancelled when the server closes.
  package let serve: @Sendable (any Transport) async -> Void

  package init(_ reply: Bridge.Open.Reply, serve: @escaping @Sendable (any Transport) async -> Void) {
    self.reply = reply
    self.serve = serve
  }
}

/// Answers the calls of `accessorybridge.Bridge`.
///
/// Each call is a task of its own, which is cancelled when its client goes or the server closes; one connection's calls
/// come one after another. Parameters have the types that the interface defines, but their contents must not be
/// trusted.
package protocol BridgeHandler: Sendable {
  /// Who the service is.
  var information: ServiceInformation { get }

  func service(_ call: Bridge.GetService, from caller: Caller) async throws(CallError) -> Bridge.GetService.Reply
  func list(_ call: Bridge.List, from caller: Caller) async throws(CallError) -> Bridge.List.Reply
  func info(_ call: Bridge.GetInfo, from caller: Caller) async throws(CallError) -> Bridge.GetInfo.Reply
  func status(_ call: Bridge.GetStatus, from caller: Caller) async throws(CallError) -> Bridge.GetStatus.Reply
  func battery(_ call: Bridge.GetBattery, from caller: Caller) async throws(CallError) -> Bridge.GetBattery.Reply
  func values(_ call: Bridge.GetValues, from caller: Caller) async throws(CallError) -> Bridge.GetValues.Reply
  func request(_ call: Bridge.Request, from caller: Caller) async throws(CallError) -> Bridge.Request.Reply
  func commands(_ call: Bridge.GetCommands, from caller: Caller) async throws(CallError) -> Bridge.GetCommands.Reply
  func perform(_ call: Bridge.Perform, from caller: Caller) async throws(CallError) -> Bridge.Perform.Reply
  func listFolder(_ call: Bridge.ListFolder, from caller: Caller) async throws(CallError) -> Bridge.ListFolder.Reply
  func makeFolder(_ call: Bridge.MakeFolder, from caller: Caller) async throws(CallError) -> Bridge.MakeFolder.Reply
  func remove(_ call: Bridge.Remove, from caller: Caller) async throws(CallError) -> Bridge.Remove.Reply
  func supplyFile(_ call: Bridge.SupplyFile, from caller: Caller) async throws(CallError) -> Bridge.SupplyFile.Reply
  func attach(_ call: Bridge.Attach, from caller: Caller) async throws(CallError) -> Bridge.Attach.Reply
  func expect(_ call: Bridge.Expect, from caller: Caller) async throws(CallError) -> Bridge.Expect.Reply
  func detach(_ call: Bridge.Detach, from caller: Caller) async throws(CallError) -> Bridge.Detach.Reply

  /// Sends events until the task is cancelled. An ordinary return tells the client `Cancelled`.
  func subscribe(
    _ call: Bridge.Subscribe, from caller: Caller, _ answers: Answers<Bridge.Event>) async throws(CallError)
  /// Sends what passes until the task is cancelled. An ordinary return tells the client `Cancelled`.
  func trace(_ call: Bridge.Trace, from caller: Caller, _ answers: Answers<Bridge.TracePiece>) async throws(CallError)
  /// Sends the pieces of a file. The returned value is the last answer.
  func getFile(
    _ call: Bridge.GetFile, from caller: Caller, _ answers: Answers<Bridge.GetFile.Reply>
  ) async throws(CallError) -> Bridge.GetFile.Reply
  /// Sends the ranges of a file that are wanted. The returned value is the last answer.
  func sendFile(
    _ call: Bridge.SendFile, from caller: Caller, _ answers: Answers<Bridge.SendFile.Reply>
  ) async throws(CallError) -> Bridge.SendFile.Reply
  /// Takes the accessory for the client alone.
  func open(_ call: Bridge.Open, from caller: Caller) async throws(CallError) -> OpenResult
  /// Carries out `call` on the line of the caller's loan.
  func onLine<Method: LineMethod>(_ call: Method, from caller: Caller) async throws(CallError) -> Method.Reply
}
