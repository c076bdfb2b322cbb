// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// The permission of writes.

extension BridgeService {
  /// The frames that commands would send, and why they may not be sent. Nothing is sent, and no device is opened.
  func preview(_ call: Bridge.Perform) throws(CallError) -> Bridge.Perform.Reply {
    let attachment = try find(call.device)
    guard let driver = attachment.driver else { throw unsupported(attachment) }
    var reply = Bridge.Perform.Reply(device: Bridge.Device(attachment.target), replies: [])
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

  /// Stores the permission of writes, which only another profile changes.
  func noteWrites(of attachment: Attachment) {
    let rules = opener(for: attachment).writeRules
    attachment.writes = rules.hasWrites ? rules.allowsWrites ? .allowed : .refused : nil
  }
}
