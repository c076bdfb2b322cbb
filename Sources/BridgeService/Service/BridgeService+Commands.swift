// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Calls for named commands, and the permission of writes.

extension BridgeService {
  /// Replaces the rules for clients that may only read, after the configuration has changed.
  package func use(_ rules: CommandRules) { permissions.rules = rules }

  package func commands(
    _ call: Bridge.GetCommands, from caller: Caller
  ) async throws(CallError) -> Bridge.GetCommands.Reply {
    let attachment = try find(call.device)
    guard let driver = attachment.driver else { throw unsupported(attachment) }
    let commands =
      switch caller.access {
      case .everything: driver.commands
      case .readings: permissions.rules.listed(driver.commands, of: attachment.subject)
      }
    return Bridge.GetCommands.Reply(
      device: attachment.target, driver: driver.name, commands: commands)
  }

  package func perform(
    _ call: Bridge.Perform, from caller: Caller
  ) async throws(CallError) -> Bridge.Perform.Reply {
    var call = call
    var permitted: Attachment?
    if caller.access == .readings {
      let attachment = try find(call.device)
      guard attachment.driver != nil else { throw unsupported(attachment) }
      try permissions.permit(call, of: attachment, from: caller, now: clock.now, log: log)
      permitted = attachment
      // The configuration's entry for a write counts as the request for it.
      call.write = true
    }
    if call.dry_run == true { return try preview(call) }
    let (clock, wanted, again) = (clock, call, permitted.map { SameAgain($0.device) })
    let limit = TimeLimit.duration(call.timeout_ms)
    let isAnswered = call.no_reply != true
    do throws(CallError) {
      let (held, replies) = try await work(call.device) { attachment, accessory throws(AccessoryError) in
        let calls = try Self.calls(wanted.commands, of: attachment.driver, accessory.label)
        // While the device was being opened, another device may have taken its name, or its profile may have changed.
        if let again {
          guard again.fits(attachment.device) else { throw .disconnected(again.name) }
          try self.permissions.check(wanted, attachment)
        }
        return try await TimeLimit.run(limit, clock, label: accessory.label) { () throws(AccessoryError) in
          try await accessory.asking(toWrite: wanted.write == true).perform(calls, isAnswered: isAnswered)
        }
      }
      return Bridge.Perform.Reply(device: held.target, replies: isAnswered ? replies : [])
    } catch {
      if let attachment = try? find(call.device) { tell(.requestFailed, attachment, problem: error.accessoryError) }
      throw error
    }
  }

  static func calls(
    _ wanted: [Bridge.CommandCall], of driver: Driver?, _ label: String
  ) throws(AccessoryError) -> [CommandCall] {
    guard !wanted.isEmpty else { throw AccessoryError(.misconfigured, "\(label): the call names no command") }
    var calls: [CommandCall] = []
    for one in wanted {
      do throws(AccessoryError) {
        calls.append(try CommandCall(one.name, one.arguments ?? [:], of: driver?.commands ?? []))
      } catch {
        throw AccessoryError(.misconfigured, "\(label): \(error)")
      }
    }
    return calls
  }

  // MARK: - Writes

  /// The frames that commands would send, and the reason why they may not be sent. Sends nothing and opens no device.
  func preview(_ call: Bridge.Perform) throws(CallError) -> Bridge.Perform.Reply {
    let attachment = try find(call.device)
    guard let driver = attachment.driver else { throw unsupported(attachment) }
    var reply = Bridge.Perform.Reply(device: attachment.target, replies: [])
    let opener = opener(for: attachment)
    do throws(AccessoryError) {
      let calls = try Self.calls(call.commands, of: driver, opener.label)
      reply.sends_hex = try driver.preview(of: calls, unit: attachment.device.unit).map { Hexadecimal.string($0) }
      reply.refusal = opener.writeRules.refusal(of: calls, isAsked: call.write == true)?.message
    } catch {
      throw CallError(error, device: attachment.device.id)
    }
    return reply
  }

  /// Throws `permissionDenied` when a client may not send raw bytes to the accessory.
  func checkBytes(of attachment: Attachment, isAsked: Bool) throws(CallError) {
    do throws(AccessoryError) {
      try opener(for: attachment).writeRules.checkBytes(isAsked: isAsked)
    } catch {
      throw CallError(error, device: attachment.device.id)
    }
  }
}
