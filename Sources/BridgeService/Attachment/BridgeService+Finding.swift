// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

// Finding the attachment that a call names, and checking that it can be asked.

extension BridgeService {
  /// The attachment that `text` names: as a user types it, or by its key. With `asLine`, the name of a line with several units gives
  /// the first of them.
  func find(_ text: String?, asLine isLine: Bool = false) throws(CallError) -> Attachment {
    if let text, text.hasPrefix(Device.keyWord) { return try find(key: text, asLine: isLine) }
    func named(_ attachment: Attachment) -> Device { attachment.device.called(attachment.given) }
    let (there, awaited) = (
      attachments.ordered.filter(\.machine.isPresent), attachments.ordered.filter { !$0.machine.isPresent }
    )
    let device: Device?
    do throws(ResolutionError) {
      // Files aren't accessed for a client: a file system that hangs would stop the service, and clients must not learn
      // which files exist.
      device = try DeviceName(text, lookingAtFiles: false).device(
        there: there.map(named), awaited: awaited.map(named))
    } catch {
      if isLine, let units = error.unitsOfALine,
        let first = attachments.ordered.first(where: { units.contains(named($0)) })
      {
        return first
      }
      if case .ambiguous(_, let devices) = error {
        throw .ambiguousDevice(text, candidates: devices.map(\.id), error.description)
      }
      let isMissing = if case .noUnit = error { true } else { false }
      throw CallError(AccessoryError(isMissing ? .notFound : .misconfigured, error.description), device: text)
    }
    guard let device else { throw gone(text) ?? notHeld(text) }
    let all = there + awaited
    guard let found = all.first(where: { named($0) == device }) ?? all.first(where: { $0.isSame(device) }) else {
      throw notHeld(text)
    }
    return found
  }

  private func find(key: String, asLine isLine: Bool) throws(CallError) -> Attachment {
    let named = attachments.ordered.filter { $0.device.key == key || isLine && $0.device.line.key == key }
    guard let found = named.first(where: \.machine.isPresent) ?? named.first else {
      if let error = gone(key) { throw error }
      let name = String(key.dropFirst(Device.keyWord.count))
      throw CallError(.disconnected(name), device: name)
    }
    return found
  }

  /// The attachments that `text` names. The name of a line gives all units on it, at least one.
  func findAll(_ text: String?) throws(CallError) -> [Attachment] {
    let first = try find(text, asLine: true)
    guard first.device.unit != nil, (try? find(text)) == nil else { return [first] }
    return ([first] + attachments.others(onLineOf: first)).sorted { $0.key < $1.key }
  }

  /// The accessory that `text` names and that is gone; nil where none is, and where it names one that the service has.
  func absent(_ text: String?) -> Bridge.Accessory? { (try? find(text)) == nil ? remembered(text) : nil }

  private func remembered(_ text: String?) -> Bridge.Accessory? {
    let all = memory.all(on: self)
    if let text, text.hasPrefix(Device.keyWord) { return all.first { $0.key == text } }
    let name = DeviceName(text, lookingAtFiles: false)
    guard let device = try? name.device(there: [], awaited: all.map(\.device)) else { return nil }
    return all.first { $0.device == device }
  }

  /// The error of a call to an accessory that is gone.
  private func gone(_ text: String?) -> CallError? {
    guard let record = remembered(text) else { return nil }
    let ago = record.last_seen.map { Amount.time(seconds: wallClock - $0) + " ago" } ?? "some time ago"
    let message =
      "\(record.device.fullTitle) is not there: it was last there \(ago). Plug it in or switch it on; "
      + "bridge-cli forget \(record.device.id) takes it from the lists"
    return CallError(AccessoryError(.disconnected, message), device: record.device.id)
  }

  /// The error for a name of none of its accessories, in the words of a program that looks for it itself.
  private func notHeld(_ text: String?) -> CallError {
    let devices = attachments.ordered.map(\.device)
    let message =
      text.map { ResolutionError.missing($0, among: devices).description } ?? "the service has no accessory at present"
    return CallError(AccessoryError(.notFound, message), device: text)
  }

  /// An attached accessory; waits while it is being opened.
  func contact(_ text: String?) async throws(CallError) -> (Attachment, OpenAccessory) {
    let attachment = try await opened(text)
    if attachment.machine.state == .lent { throw attachment.lending.refusal(attachment) }
    guard let open = attachment.open else { throw notHeld(text) }
    return (attachment, open)
  }

  /// An attachment whose device is open, for the service or for a borrower. Opens an idle accessory, and waits while it is being
  /// opened.
  func opened(_ text: String?, asLine isLine: Bool = false) async throws(CallError) -> Attachment {
    var attachment = try find(text, asLine: isLine)
    while true {
      attachment = attachment.latest
      try check(attachment, text)
      switch attachment.machine.state {
      case .attached, .lent: return attachment
      case .opening:
        try hasten(attachment)
        await wait(attachment)
      case .waiting where attachment.machine.isResting:
        perform(attachment.machine.wake(now: clock.now), on: attachment)
      case .waiting, .failed:
        let problem = attachment.machine.problem ?? .disconnected(attachment.target.address.description)
        throw CallError(problem, device: attachment.device.id)
      }
    }
  }

  /// Waits until the attachment's state changes, or the task is cancelled.
  func wait(_ attachment: Attachment) async { for await _ in attachment.change() {} }

  /// Throws when waiting is pointless: the call is cancelled, the service ends, or the attachment is removed.
  func check(_ attachment: Attachment, _ text: String?) throws(CallError) {
    if Task.isCancelled || isClosing {
      throw CallError(AccessoryError(.cancelled, "the call was cancelled"), device: text)
    }
    guard attachments.contains(attachment) else {
      let problem = attachment.machine.problem ?? .disconnected(attachment.target.address.description)
      throw CallError(problem, device: attachment.device.id)
    }
  }

  /// Runs `body` with an attached accessory. While it runs, the accessory isn't closed for being idle.
  func work<Value: Sendable>(
    _ text: String?, _ body: (Attachment, any Accessory) async throws(AccessoryError) -> Value
  ) async throws(CallError) -> (Attachment, Value) {
    let (attachment, open) = try await contact(text)
    guard let accessory = open.accessory else { throw unsupported(attachment) }
    attachment.beginCall()
    defer { endWork(attachment) }
    do throws(AccessoryError) {
      let value = try await body(attachment, accessory)
      showedLife(attachment)
      return (attachment, value)
    } catch {
      throw CallError(error, device: attachment.device.id)
    }
  }

  /// Ends work that `beginCall` has begun.
  func endWork(_ attachment: Attachment) {
    attachment.endCall()
    guard attachments.contains(attachment), attachment.machine.state == .attached else { return }
    noteWork(attachment)
    renewConnections(of: attachment)
  }

  func unsupported(_ attachment: Attachment) -> CallError {
    let address = attachment.target.address
    let reason =
      if let profile = attachment.profile {
        "the profile \(profile.name) names no driver for \(address)"
      } else if let name = attachment.device.driver {
        "\(address) was announced with the driver \(SafeText.escape(name)), which this service doesn't have"
      } else {
        "the protocol of \(address) is unknown"
      }
    return CallError(
      AccessoryError(
        .unsupported,
        "\(reason), so only its bytes can be used (Open), not its battery or status: detach it, and attach it again "
          + "with the profile that matches it"),
      device: attachment.device.id)
  }
}
