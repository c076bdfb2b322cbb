// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// The caller of a method: a user who may use the socket, which is root, the server's user, or a member of the socket's
/// group.
package struct Caller: Sendable {
  /// The process that connected.
  package let peer: SocketPeer
  /// What the clients of its socket may do.
  package var access = SocketAccess.everything
}

/// Sends the replies to a call with several replies. Throws when the client is gone, or was disconnected because it
/// reads too slowly.
package struct ReplySender<Reply: Codable & Sendable>: Sendable {
  let body: @Sendable (Reply, _ waits: Bool) async throws(CallError) -> Void

  /// Sends one reply. Doesn't wait until the client reads it.
  package func send(_ reply: Reply) async throws(CallError) { try await body(reply, false) }

  /// Sends one reply; waits first while the client has many unread bytes. For replies that may be delayed.
  package func sendWhenRead(_ reply: Reply) async throws(CallError) { try await body(reply, true) }
}

/// The result of `open` and `share`.
package struct OpenResult: Sendable {
  /// The reply, with the device and the loan.
  package let reply: Bridge.Open.Reply
  /// Copies bytes between the accessory and the client, in both directions. The client's transport is closed when this
  /// returns. When the client disconnects, the transport's input ends with `disconnected`. The task is cancelled when
  /// the server closes.
  package let serve: @Sendable (any Transport) async -> Void

  package init(_ reply: Bridge.Open.Reply, serve: @escaping @Sendable (any Transport) async -> Void) {
    self.reply = reply
    self.serve = serve
  }
}

/// Performs the calls of `accessorybridge.Bridge`.
///
/// Each call runs in a task of its own, which is cancelled when its client disconnects or the server closes. The calls
/// of one connection run one after another. Parameters have the types that the interface defines, but their contents
/// are untrusted.
package protocol BridgeHandler: Sendable {
  /// The product and the version of the service.
  var information: ServiceInformation { get }

  func service(_ call: Bridge.GetService, from caller: Caller) async throws(CallError) -> Bridge.GetService.Reply
  func list(_ call: Bridge.List, from caller: Caller) async throws(CallError) -> Bridge.List.Reply
  func info(_ call: Bridge.GetInfo, from caller: Caller) async throws(CallError) -> Bridge.GetInfo.Reply
  func status(_ call: Bridge.GetStatus, from caller: Caller) async throws(CallError) -> Bridge.GetStatus.Reply
  func battery(_ call: Bridge.GetBattery, from caller: Caller) async throws(CallError) -> Bridge.GetBattery.Reply
  func values(_ call: Bridge.GetValues, from caller: Caller) async throws(CallError) -> Bridge.GetValues.Reply
  func history(_ call: Bridge.GetHistory, from caller: Caller) async throws(CallError) -> Bridge.GetHistory.Reply
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
  func name(_ call: Bridge.Name, from caller: Caller) async throws(CallError) -> Bridge.Name.Reply
  func forget(_ call: Bridge.Forget, from caller: Caller) async throws(CallError) -> Bridge.Forget.Reply

  /// Sends events until the task is cancelled. A normal return sends the client `Cancelled`.
  func subscribe(
    _ call: Bridge.Subscribe, from caller: Caller, _ answers: ReplySender<Bridge.Event>) async throws(CallError)
  /// Sends the device's traffic until the task is cancelled. A normal return sends the client `Cancelled`.
  func trace(_ call: Bridge.Trace, from caller: Caller, _ answers: ReplySender<Bridge.TracePiece>)
    async throws(CallError)
  /// Sends the pieces of a file. The returned value is the last reply.
  func getFile(
    _ call: Bridge.GetFile, from caller: Caller, _ answers: ReplySender<Bridge.GetFile.Reply>
  ) async throws(CallError) -> Bridge.GetFile.Reply
  /// Sends requests for the pieces of a file. The returned value is the last reply.
  func sendFile(
    _ call: Bridge.SendFile, from caller: Caller, _ answers: ReplySender<Bridge.SendFile.Reply>
  ) async throws(CallError) -> Bridge.SendFile.Reply
  /// Lends the accessory to the client.
  func open(_ call: Bridge.Open, from caller: Caller) async throws(CallError) -> OpenResult
  /// Shares the accessory's bytes with the client.
  func share(_ call: Bridge.Share, from caller: Caller) async throws(CallError) -> OpenResult
  /// Carries out `call` on the line of the caller's loan.
  func onLine<Method: LineMethod>(_ call: Method, from caller: Caller) async throws(CallError) -> Method.Reply
}
