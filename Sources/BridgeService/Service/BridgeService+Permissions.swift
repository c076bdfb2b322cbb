// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Commands of clients that may only read.

extension BridgeService {
  /// Replaces the rules for clients that may only read, after the configuration has changed.
  package func use(_ rules: CommandRules) { commandRules = rules }

  /// The commands that such clients may perform.
  func listed(_ driver: Driver, _ attachment: Attachment) -> [CommandDescription] {
    commandRules.listed(driver.commands, of: subject(attachment))
  }

  /// Checks a call of such a client, and counts it. Returns the accessory that it is for. Throws without having sent anything,
  /// and without having opened a device: `permissionDenied` for what isn't permitted, `busy` for what comes too soon.
  func permit(_ call: Bridge.Perform, from caller: Caller) throws(CallError) -> Attachment {
    let attachment = try find(call.device)
    guard attachment.driver != nil else { throw unsupported(attachment) }
    do throws(AccessoryError) {
      let granted = try check(call, attachment)
      guard call.dry_run != true else { return attachment }
      if let (wait, permission) = try commandRates.take(granted, of: attachment.device.id, now: clock.now) {
        let milliseconds = (wait.inNanoseconds + 999_999) / 1_000_000
        throw AccessoryError(
          .busy,
          "\(attachment.name): \(permission.command) may be performed \(permission.rate.text) at most: try again in "
            + Self.text(.milliseconds(milliseconds)))
      }
    } catch {
      log.debug("user \(caller.peer.user) may not perform this: \(SafeText.escape(error.message, limit: 500))")
      throw CallError(error, device: attachment.device.id)
    }
    let names = call.commands.map { SafeText.escape($0.name, limit: 64) }.joined(separator: ", ")
    log.info("\(attachment.name): \(names), for user \(caller.peer.user), who may only read otherwise")
    return attachment
  }

  /// Throws unless all commands of a call are permitted. Returns their entries.
  @discardableResult
  func check(_ call: Bridge.Perform, _ attachment: Attachment) throws(AccessoryError) -> [CommandPermission] {
    let calls = try Self.calls(call.commands, of: attachment.driver, attachment.name)
    return try commandRules.permissions(
      for: zip(calls, call.commands).map { ($0, Array(($1.arguments ?? [:]).keys)) }, of: subject(attachment),
      label: attachment.name)
  }

  /// What an accessory is known by.
  func subject(_ attachment: Attachment) -> CommandRules.Subject {
    CommandRules.Subject(
      id: attachment.device.id, serial: attachment.device.serialNumber, profile: attachment.profile?.name,
      driver: attachment.driver?.name)
  }
}
