// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Commands by name through a service, in the drivers' terms.

extension BridgeDevice {
  /// Its commands, and the driver's name.
  package func descriptions() async throws(AccessoryError) -> (driver: String, commands: [CommandDescription]) {
    let reply = try await commands()
    let commands = reply.commands.compactMap { CommandDescription($0) }
    guard commands.count == reply.commands.count else { throw nonsense }
    return (reply.driver, commands)
  }

  /// Carries out commands; returns the device and the replies.
  package func perform(
    _ calls: [CommandCall], isAnswered: Bool, write: Bool = false
  ) async throws(AccessoryError) -> (device: Bridge.Device, replies: [CommandReply]) {
    let reply = try await perform(calls.map { Bridge.CommandCall($0) }, isAnswered: isAnswered, write: write)
    var replies: [CommandReply] = []
    for (call, answer) in zip(calls, reply.replies) {
      let values = answer.values.compactMap { CommandValue($0) }
      guard values.count == answer.values.count else { throw nonsense }
      replies.append(CommandReply(call.command, values))
    }
    return (reply.device, replies)
  }
}

extension Bridge.CommandCall {
  /// A call in the interface's terms: its arguments as they would be typed.
  package init(_ call: CommandCall) { self.init(call.command.name, call.values.compactMapValues(\.typed)) }
}
