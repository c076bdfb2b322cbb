// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import BridgeService

// Commands by name, through the service.

extension HeldDevice {
  /// What it can be told and asked, and the driver's name.
  func commands() async throws -> (driver: String, commands: [CommandDescription]) {
    try requireDriver()
    let reply = try await calls.commands()
    let commands = reply.commands.compactMap(CommandDescription.init)
    guard commands.count == reply.commands.count else { throw calls.nonsense }
    return (reply.driver, commands)
  }

  /// Has commands carried out; gives which device it was, and what they were answered.
  func perform(
    _ calls: [CommandCall], isAnswered: Bool
  ) async throws -> (device: Bridge.Device, replies: [CommandReply]) {
    try requireDriver()
    let reply = try await self.calls.perform(
      calls.map { .init($0.command.name, $0.values.compactMapValues(\.typed)) }, isAnswered: isAnswered)
    let replies = try zip(calls, reply.replies).map { call, reply in
      let values = reply.values.compactMap { CommandValue($0) }
      guard values.count == reply.values.count else { throw self.calls.nonsense }
      return CommandReply(call.command, values)
    }
    return (reply.device, replies)
  }
}
