// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import Logging

/// What read-only clients may do, and how often they have done it. Used on the service's actor only.
struct Permissions {
  /// The configuration's rules.
  var rules: CommandRules
  private var rates = CommandRates()

  init(_ rules: CommandRules) { self.rules = rules }

  /// Checks and counts a call of a read-only client, before anything is sent or a device is opened. Throws `permissionDenied` for
  /// what isn't permitted and `busy` for what comes too soon.
  mutating func permit(
    _ call: Bridge.Perform, of attachment: Attachment, from caller: Caller, now: MonotonicTime, log: Logger
  ) throws(CallError) {
    do throws(AccessoryError) {
      let granted = try check(call, attachment)
      guard call.dry_run != true else { return }
      if let (wait, permission) = try rates.take(granted, of: attachment.device.id, now: now) {
        let milliseconds = (wait.inNanoseconds + 999_999) / 1_000_000
        throw AccessoryError(
          .busy,
          "\(attachment.name): \(permission.command) may be performed \(permission.rate.text) at most: try again in "
            + BridgeService.text(.milliseconds(milliseconds)))
      }
    } catch {
      log.debug("user \(caller.peer.user) may not perform this: \(SafeText.escape(error.message, limit: 500))")
      throw CallError(error, device: attachment.device.id)
    }
    let names = call.commands.map { SafeText.escape($0.name, limit: 64) }.joined(separator: ", ")
    log.info("\(attachment.name): \(names), for user \(caller.peer.user), who may only read otherwise")
  }

  /// Throws unless all commands of a call are permitted. Returns their entries.
  @discardableResult
  func check(_ call: Bridge.Perform, _ attachment: Attachment) throws(AccessoryError) -> [CommandPermission] {
    let calls = try BridgeService.calls(call.commands, of: attachment.driver, attachment.name)
    return try rules.permissions(
      for: zip(calls, call.commands).map { ($0, Array(($1.arguments ?? [:]).keys)) }, of: attachment.subject,
      label: attachment.name)
  }
}
