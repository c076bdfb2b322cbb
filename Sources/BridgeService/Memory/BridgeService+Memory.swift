// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery

// Calls that give names, and that forget accessories that are gone.

extension BridgeService {
  /// Sets after how many seconds of absence an accessory is forgotten, after the configuration has changed; nil for never.
  package func use(forgetAfter seconds: Double?) { memory.use(forgetAfter: seconds, on: self) }

  /// Replaces what accessories are called, after the configuration has changed.
  package func use(_ names: [String: GivenName]) { memory.use(names, on: self) }

  package func name(_ call: Bridge.Name, from caller: Caller) async throws(CallError) -> Bridge.Name.Reply {
    for (what, text) in [("name", call.name), ("area", call.area)] {
      guard let text, !text.isEmpty, let problem = GivenName.problem(of: text) else { continue }
      throw CallError(AccessoryError(.misconfigured, "the \(what) \(problem)"), device: call.device)
    }
    let (attachment, device) = try known(call.device)
    guard call.name != nil || call.area != nil else { return Bridge.Name.Reply(device: device) }
    try checkIsFree(call.name, for: device)
    var given = memory.own(device, on: self)
    if let name = call.name { given.name = name.isEmpty ? nil : name }
    if let area = call.area { given.area = area.isEmpty ? nil : area }
    guard memory.give(given, to: device, on: self) else {
      throw .limitReached(GivenNames.limit, "the service keeps \(GivenNames.limit) names, which is its limit")
    }
    log.notice(
      "\(SafeText.escape(device.id)) is called \(SafeText.escape(given.name ?? "by its identity", limit: 200))")
    if let attachment {
      attachment.given = memory.name(for: attachment.device, on: self)
      // Its alarms are told with its name.
      alarms.watch(attachment, on: self)
    }
    let renamed = device.called(memory.name(for: device, on: self))
    clients.events.tell(Bridge.Event(.changed, time: wallClock, device: renamed))
    return Bridge.Name.Reply(device: renamed)
  }

  /// The accessory that `text` names, whether it is there or is gone.
  private func known(_ text: String?) throws(CallError) -> (attachment: Attachment?, device: Device) {
    if let record = absent(text) { return (nil, record.device) }
    let attachment = try find(text)
    return (attachment, attachment.target)
  }

  /// Throws when the name is the identity of another accessory, which is meant by it.
  private func checkIsFree(_ name: String?, for device: Device) throws(CallError) {
    guard let name, !name.isEmpty else { return }
    let others = attachments.ordered.map(\.device) + memory.all(on: self).map(\.device)
    guard let other = others.first(where: { $0.id != device.id && ($0.id == name || $0.serialNumber == name) }) else {
      return
    }
    throw CallError(
      AccessoryError(
        .misconfigured, "\(name) is the identity of another accessory, at \(other.place): take another name"),
      device: device.id)
  }

  package func forget(_ call: Bridge.Forget, from caller: Caller) async throws(CallError) -> Bridge.Forget.Reply {
    if let record = absent(call.device) {
      memory.forget(record.device.id, on: self)
      return Bridge.Forget.Reply(device: record.device)
    }
    let attachment = try find(call.device)
    guard !attachment.machine.isPresent else {
      let message =
        "\(attachment.target.fullTitle) is there: only an accessory that is gone can be forgotten. "
        + "bridge-cli attach --end \(attachment.device.id) makes the service close it"
      throw CallError(AccessoryError(.busy, message), device: attachment.device.id)
    }
    let device = attachment.target
    release(attachment)
    clients.events.tell(Bridge.Event(.changed, time: wallClock, device: device))
    return Bridge.Forget.Reply(device: device)
  }
}
