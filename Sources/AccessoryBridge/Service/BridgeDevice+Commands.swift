// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Commands by name through a service, in the types of the drivers.

extension BridgeDevice {
  /// The accessory's commands, and the driver's name.
  package func descriptions() async throws(AccessoryError) -> (driver: String, commands: [CommandDescription]) {
    let reply = try await commands()
    let commands = reply.commands.compactMap { CommandDescription($0) }
    guard commands.count == reply.commands.count else { throw invalidReplyError }
    return (reply.driver, commands)
  }

  /// Carries out commands. Returns the device and the replies.
  package func perform(
    _ calls: [CommandCall], isAnswered: Bool, write: Bool = false
  ) async throws(AccessoryError) -> (device: Bridge.Device, replies: [CommandReply]) {
    let reply = try await perform(calls.map { Bridge.CommandCall($0) }, isAnswered: isAnswered, write: write)
    var replies: [CommandReply] = []
    for (call, answer) in zip(calls, reply.replies) {
      let values = answer.values.compactMap { CommandValue($0) }
      guard values.count == answer.values.count else { throw invalidReplyError }
      replies.append(CommandReply(call.command, values))
    }
    return (reply.device, replies)
  }
}

extension Bridge.CommandCall {
  /// A call in the types of the interface: its arguments as a user would type them.
  package init(_ call: CommandCall) { self.init(call.command.name, call.values.compactMapValues(\.typed)) }
}
