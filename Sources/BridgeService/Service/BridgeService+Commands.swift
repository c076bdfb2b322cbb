// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Calls for named commands.

extension BridgeService {
  package func commands(
    _ call: Bridge.GetCommands, from caller: Caller
  ) async throws(CallError) -> Bridge.GetCommands.Reply {
    let attachment = try find(call.device)
    guard let driver = attachment.driver else { throw unsupported(attachment) }
    let commands =
      switch caller.access {
      case .everything: driver.commands
      case .readings: listed(driver, attachment)
      }
    return Bridge.GetCommands.Reply(
      device: Bridge.Device(attachment.target), driver: driver.name, commands: commands.map(Bridge.Command.init))
  }

  package func perform(
    _ call: Bridge.Perform, from caller: Caller
  ) async throws(CallError) -> Bridge.Perform.Reply {
    var call = call
    var permitted: Attachment?
    if caller.access == .readings {
      permitted = try permit(call, from: caller)
      // The configuration's entry for a write is what asks for it.
      call.write = true
    }
    if call.dry_run == true { return try preview(call) }
    let (clock, wanted, id) = (clock, call, permitted?.device.id)
    let limit = TimeLimit.duration(call.timeout_ms)
    let isAnswered = call.no_reply != true
    do throws(CallError) {
      let (held, replies) = try await work(call.device) { attachment, accessory throws(AccessoryError) in
        let calls = try Self.calls(wanted.commands, of: attachment.driver, accessory.label)
        // While the device was opened, another one may have taken its name, or its profile may have changed.
        if let id {
          guard attachment.device.id == id else { throw .disconnected(id) }
          try self.check(wanted, attachment)
        }
        return try await TimeLimit.run(limit, clock, label: accessory.label) { () throws(AccessoryError) in
          try await accessory.asking(toWrite: wanted.write == true).perform(calls, isAnswered: isAnswered)
        }
      }
      return Bridge.Perform.Reply(
        device: Bridge.Device(held.target), replies: isAnswered ? replies.map(Bridge.CommandReply.init) : [])
    } catch {
      if let attachment = try? find(call.device) { tell(.requestFailed, attachment, problem: error.accessoryError) }
      throw error
    }
  }

  static func calls(
    _ wanted: [Bridge.CommandCall], of driver: Driver?, _ label: String
  ) throws(AccessoryError) -> [CommandCall] {
    guard !wanted.isEmpty else { throw AccessoryError(.misconfigured, "\(label): no command is given") }
    var calls: [CommandCall] = []
    for one in wanted {
      do throws(CommandSyntaxError) {
        calls.append(try CommandCall(one.name, one.arguments ?? [:], of: driver?.commands ?? []))
      } catch {
        throw AccessoryError(.misconfigured, "\(label): \(error)")
      }
    }
    return calls
  }
}
