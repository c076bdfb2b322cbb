// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc

/// An accessory of a service, with the calls on it. They throw the errors that `BridgeClient` documents.
package struct BridgeDevice: Sendable {
  /// The service.
  package var client: BridgeClient
  /// The accessory's name in calls: its key, with a service that tells it, otherwise its path.
  package let name: String
  package let path: String
  /// The name for people, which replaces the path in the service's errors.
  package var label: String

  // MARK: - Facts and readings

  /// The facts about the accessory, its line and its protocol.
  package func info() async throws(AccessoryError) -> Bridge.GetInfo.Reply {
    try await call(Bridge.GetInfo(device: name))
  }

  /// The accessory's battery, its values, or its status and identity. Throws `unsupported` also where the service is too old for values,
  /// or for the wish.
  package func read<Value: WholeReading>(
    _ wish: ReadingWish = ReadingWish()
  ) async throws(AccessoryError) -> Read<Value> {
    var read = try await call(Bridge.GetReading<Value>(device: name, wish)).read
    // A service says the age of what it hasn't read for this call.
    read.age = read.age ?? read.value.age ?? .zero
    return read
  }

  /// The readings of the accessory in the last time, at most 24 hours: the series with these names, nil for all; of the
  /// last `time`, nil for all that is kept. Throws `unsupported` also where the service is too old for it.
  package func history(_ names: [String]? = nil, last time: Duration? = nil) async throws(AccessoryError)
    -> (device: Device?, series: [ReadingSeries])
  {
    let since = time.map { Double($0.inNanoseconds) / 1e9 }
    let reply = try await call(Bridge.GetHistory(device: name, names: names, since: since))
    return (reply.device, reply.series.map(\.series))
  }

  /// The accessory's history with the energy of each hour, which an older service doesn't tell. With `step`, each point stands for at
  /// least so many seconds; an older service refuses it.
  package func energyHistory(
    _ names: [String]? = nil, last time: Duration, step: Double? = nil
  ) async throws(AccessoryError) -> (device: Device?, series: [ReadingSeries], energy: Energy?) {
    let since = Double(time.inNanoseconds) / 1e9
    let reply = try await call(Bridge.GetHistory(device: name, names: names, since: since, energy: true, step: step))
    return (reply.device, reply.series.map(\.series), reply.energy?.energy)
  }

  /// The accessory's events from now on, on a connection of its own. With `values` these include values, and with
  /// `alarms` alarms, if the service isn't too old for them. Throws `disconnected` when the service ends; an unplug of
  /// the accessory is an event.
  package func events(
    values: Bool = false, alarms: Bool = false
  ) async throws(AccessoryError) -> BridgeEvents {
    let method = Bridge.Subscribe(device: name, values: values, alarms: alarms)
    return try await BridgeClient.events(method, at: client.socketPath, replyTimeout: client.replyTimeout) {
      failure($0)
    }
  }

  /// The bytes to and from the accessory from now on, on a connection of its own.
  package func trace() async throws(AccessoryError) -> BridgeStream<Bridge.Trace> {
    try await stream(Bridge.Trace(device: name))
  }

  // MARK: - Commands

  /// Sends one command, given by its name or number ("0x12"), and waits for the reply. `write` allows a command
  /// that changes something in the accessory, if its profile allows that, too; also in the methods below.
  package func request(
    _ command: String, payload: [UInt8], write: Bool = false
  ) async throws(AccessoryError) -> (device: Device, payload: [UInt8]) {
    let reply = try await call(Bridge.Request(device: name, command: command, payload: payload, write: write))
    guard let payload = reply.reply.payload else { throw invalidReplyError }
    return (reply.device, payload)
  }

  /// The named commands of the accessory's driver.
  package func commands() async throws(AccessoryError) -> Bridge.GetCommands.Reply {
    try await call(Bridge.GetCommands(device: name))
  }

  /// Carries out commands. The replies are in the order of the commands; empty when `isAnswered` is false.
  package func perform(
    _ calls: [Bridge.CommandCall], isAnswered: Bool, write: Bool = false
  ) async throws(AccessoryError) -> Bridge.Perform.Reply {
    var reply = try await call(
      Bridge.Perform(device: name, commands: calls, no_reply: isAnswered ? nil : true, write: write))
    if !isAnswered { reply.replies = [] }
    guard reply.replies.map(\.command) == (isAnswered ? calls.map(\.name) : []) else { throw invalidReplyError }
    return reply
  }

  /// The frames that commands would send, one per command, and the reason if a permission is missing. Nothing is sent.
  package func preview(
    _ calls: [Bridge.CommandCall], write: Bool
  ) async throws(AccessoryError) -> (device: Device, frames: [[UInt8]], refusal: String?) {
    let reply = try await call(Bridge.Perform(device: name, commands: calls, write: write, dry_run: true))
    let frames = (reply.sends_hex ?? []).compactMap { Hexadecimal.bytes($0) }
    guard let told = reply.sends_hex, frames.count == told.count else { throw invalidReplyError }
    return (reply.device, frames, reply.refusal)
  }

  /// Makes the service detach the accessory.
  package func detach() async throws(AccessoryError) -> Device {
    try await call(Bridge.Detach(device: name)).device
  }

  // MARK: - Raw bytes

  /// How often, and at which interval, `open` is repeated while the service hasn't noticed that this program has
  /// returned the accessory.
  private static let looks = 200
  private static let pause = Duration.milliseconds(10)

  /// Borrows the accessory: its raw bytes on a connection of its own, until that is closed, and its line control.
  /// Throws `busy` when another client has borrowed it, and `permissionDenied` where bytes may change something in the
  /// accessory, and `write` is false or the profile doesn't allow writes.
  package func open(
    write: Bool = false
  ) async throws(AccessoryError) -> (device: Device, transport: any Transport) {
    guard let lent = try await borrow(Bridge.Open(device: name, write: write), isAsked: write) else {
      throw await client.tooOld(for: "Open")
    }
    return lent
  }

  /// Shares the accessory's bytes with other clients, until the connection is closed. With `read` this client gets the
  /// accessory's bytes while the service continues to use the accessory. With `write` it also sends bytes, and the
  /// service sends no requests meanwhile. By frames, it gets the replies to its own requests only. Returns nil if the
  /// service is too old for the method, or for frames. Throws like `open`; by frames also `unsupported`, if the service
  /// can't tell the accessory's frames apart.
  package func share(
    _ access: Bridge.ShareAccess, by unit: Bridge.ShareUnit = .bytes, write: Bool = false
  ) async throws(AccessoryError) -> (device: Device, transport: any Transport)? {
    try await borrow(
      Bridge.Share(device: name, access: access, by: unit, write: write), isAsked: write
    ) { reply in
      // By frames, a client that may not write gets no line.
      access == .write && (unit == .bytes || reply.loan != nil)
    }
  }

  /// Returns nil if the service doesn't know the method.
  private func borrow<Method: ControlMethod>(
    _ method: Method, isAsked: Bool, hasLine: (Bridge.Open.Reply) -> Bool = { _ in true }
  ) async throws(AccessoryError) -> (device: Device, transport: any Transport)?
  where Method.Reply == Bridge.Open.Reply {
    let connection = try await ControlClient.connect(to: client.socketPath, timeout: client.replyTimeout ?? .seconds(5))
    for look in 1... {
      do throws(ControlError) {
        let (reply, transport) = try await connection.upgrade(method, label: label, timeout: client.replyTimeout) {
          reply in
          hasLine(reply) ? LentLine(of: self, reply) : nil
        }
        return (reply.device, transport)
      } catch {
        if case .answer(let answer) = error, answer.isOfUnknownMethod || answer.isOfUnknownParameter("by") {
          return nil
        }
        if isAsked, case .answer(let answer) = error, answer.isOfUnknownParameter("write") {
          throw await client.tooOld(for: "write, and did not open the accessory")
        }
        // This program has just returned the accessory, and the service hasn't noticed that yet.
        guard case .answer(let answer) = error, answer.holder == "process \(getpid())", look < Self.looks else {
          throw failure(error)
        }
      }
      await IOThread.shared.sleep(for: Self.pause)
    }
    throw invalidReplyError
  }

  // MARK: - Calls

  func call<Method: ControlMethod>(_ method: Method) async throws(AccessoryError) -> Method.Reply {
    try await client.call(method, failure)
  }

  func stream<Method: ControlMethod>(_ method: Method) async throws(AccessoryError) -> BridgeStream<Method> {
    try await BridgeClient.stream(method, at: client.socketPath, replyTimeout: client.replyTimeout) { failure($0) }
  }

  /// Converts the error of a call. The label replaces the path in its message.
  private func failure(_ error: ControlError) -> AccessoryError {
    let its = error.accessoryError
    guard case .answer = error, label != path, let place = its.message.firstRange(of: path) else { return its }
    var message = its.message
    message.replaceSubrange(place, with: label)
    return AccessoryError(its.kind, code: its.code, message)
  }

  package var invalidReplyError: AccessoryError {
    AccessoryError(.badData, "the service at \(client.socketPath) sent an invalid reply")
  }
}
