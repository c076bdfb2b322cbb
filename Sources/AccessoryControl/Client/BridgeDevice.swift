// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc

/// One accessory of a service, and the calls about it. They throw the errors that `BridgeClient` documents.
package struct BridgeDevice: Sendable {
  /// The service.
  package var client: BridgeClient
  /// What calls name it by: its path is nobody else's.
  package let path: String
  /// Its name for people, which replaces the path in errors of the service.
  package var label: String

  // MARK: - What it is and how it is

  /// All that the service knows of it.
  package func info() async throws(AccessoryError) -> Bridge.GetInfo.Reply {
    try await call(Bridge.GetInfo(device: path))
  }

  /// What it is doing, and who it is.
  package func status() async throws(AccessoryError) -> Bridge.GetStatus.Reply {
    try await call(Bridge.GetStatus(device: path))
  }

  /// How its battery is.
  package func battery() async throws(AccessoryError) -> Bridge.GetBattery.Reply {
    try await call(Bridge.GetBattery(device: path))
  }

  /// What it measures beside these. Throws `unsupported` also where the service is too old to know of values.
  package func values() async throws(AccessoryError) -> Bridge.GetValues.Reply {
    try await call(Bridge.GetValues(device: path))
  }

  /// What happens to it from now on, on a connection of its own; with `values`, those that it tells, too, where the service
  /// isn't too old to know of them. Ends by `disconnected` when the service goes; that the accessory goes is an event.
  package func events(values: Bool = false) async throws(AccessoryError) -> BridgeEvents {
    let method = Bridge.Subscribe(device: path, values: values)
    return try await BridgeClient.events(method, at: client.place, patience: client.patience) { failure($0) }
  }

  /// The bytes that pass from now on, on a connection of its own.
  package func trace() async throws(AccessoryError) -> BridgeStream<Bridge.Trace> {
    try await stream(Bridge.Trace(device: path))
  }

  // MARK: - What it is told

  /// Sends one AF1 command, named or as a number ("0x12"), and waits for its answer. With `write`, here and in what follows,
  /// it may change something in the accessory, if its profile allows that.
  package func request(
    _ command: String, payload: [UInt8], write: Bool = false
  ) async throws(AccessoryError) -> (device: Bridge.Device, payload: [UInt8]) {
    let reply = try await call(Bridge.Request(device: path, command: command, payload: payload, write: write))
    guard let payload = reply.reply.payload else { throw nonsense }
    return (reply.device, payload)
  }

  /// What it can be told and asked by name.
  package func commands() async throws(AccessoryError) -> Bridge.GetCommands.Reply {
    try await call(Bridge.GetCommands(device: path))
  }

  /// Has commands carried out. There are as many answers, in this order; none when it isn't to answer.
  package func perform(
    _ calls: [Bridge.CommandCall], isAnswered: Bool, write: Bool = false
  ) async throws(AccessoryError) -> Bridge.Perform.Reply {
    var reply = try await call(
      Bridge.Perform(device: path, commands: calls, no_reply: isAnswered ? nil : true, write: write))
    if !isAnswered { reply.replies = [] }
    guard reply.replies.map(\.command) == (isAnswered ? calls.map(\.name) : []) else { throw nonsense }
    return reply
  }

  /// What commands would send, a frame each, and the permission that is missing for that, if one is. Nothing is sent.
  package func preview(
    _ calls: [Bridge.CommandCall], write: Bool
  ) async throws(AccessoryError) -> (device: Bridge.Device, frames: [[UInt8]], refusal: String?) {
    let reply = try await call(Bridge.Perform(device: path, commands: calls, write: write, dry_run: true))
    let frames = (reply.sends_hex ?? []).compactMap { Hexadecimal.bytes($0) }
    guard let told = reply.sends_hex, frames.count == told.count else { throw nonsense }
    return (reply.device, frames, reply.refusal)
  }

  /// Has the service let it go.
  package func detach() async throws(AccessoryError) -> Bridge.Device {
    try await call(Bridge.Detach(device: path)).device
  }

  // MARK: - Its bytes

  /// How often, and at which interval, opening is retried while the service hasn't noticed that this program has given
  /// the accessory back.
  private static let looks = 200
  private static let pause = Duration.milliseconds(10)

  /// Has the service lend it: its raw bytes, on a connection of their own, until that is closed, and its line. Throws `busy`
  /// when somebody else has borrowed it, and `permissionDenied` where bytes may change something in it, and that isn't asked
  /// for by `write`, or not allowed.
  package func open(
    write: Bool = false
  ) async throws(AccessoryError) -> (device: Bridge.Device, transport: any Transport) {
    let connection = try await ControlClient.connect(to: client.place, timeout: client.patience ?? .seconds(5))
    for look in 1... {
      do throws(ControlError) {
        let (reply, transport) = try await connection.upgrade(
          Bridge.Open(device: path, write: write), label: label, timeout: client.patience
        ) { reply in LentLine(of: self, reply) }
        return (reply.device, transport)
      } catch {
        if write, case .answer(let answer) = error, answer.isOfUnknownParameter("write") {
          throw await client.tooOld(for: "write, and lends nothing for that")
        }
        // This program has just given it back, and the service hasn't noticed yet.
        guard case .answer(let answer) = error, answer.holder == "process \(getpid())", look < Self.looks else {
          throw failure(error)
        }
      }
      await IOThread.shared.sleep(for: Self.pause)
    }
    throw nonsense
  }

  // MARK: - Calls

  func call<Method: ControlMethod>(_ method: Method) async throws(AccessoryError) -> Method.Reply {
    try await client.call(method, failure)
  }

  func stream<Method: ControlMethod>(_ method: Method) async throws(AccessoryError) -> BridgeStream<Method> {
    try await BridgeClient.stream(method, at: client.place, patience: client.patience) { failure($0) }
  }

  /// The error of a call as that of the accessory: in it, the accessory is called by its label.
  private func failure(_ error: ControlError) -> AccessoryError {
    let its = error.accessoryError
    guard case .answer = error, label != path, let place = its.message.firstRange(of: path) else { return its }
    var message = its.message
    message.replaceSubrange(place, with: label)
    return AccessoryError(its.kind, code: its.code, message)
  }

  /// The error of an answer that makes no sense.
  package var nonsense: AccessoryError {
    AccessoryError(.badData, "the service at \(client.place) answers something that makes no sense")
  }
}
