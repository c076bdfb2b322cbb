// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

// Which attachment a call is about, and whether it can be asked.

extension BridgeService {
  /// The attachment that `text`, as typed by a user, means. With `asLine` the line of several is meant by the first of
  /// them.
  func find(_ text: String?, asLine isLine: Bool = false) throws(CallError) -> Attachment {
    let (there, awaited) = (ordered.filter(\.machine.isPresent), ordered.filter { !$0.machine.isPresent })
    let device: Device?
    do throws(ResolutionError) {
      // No file is accessed for a client: a file system that hangs would stop the service, and clients must not learn
      // which files exist.
      device = try DeviceResolver.choose(
        text, there: there.map(\.device), awaited: awaited.map(\.device), lookingAtFiles: false)
    } catch {
      if isLine, let units = error.unitsOfALine, let first = ordered.first(where: { units.contains($0.device) }) {
        return first
      }
      if case .ambiguous(_, let devices) = error {
        throw .ambiguousDevice(text, candidates: devices.map(\.id), error.description)
      }
      let isMissing = if case .noUnit = error { true } else { false }
      throw CallError(AccessoryError(isMissing ? .notFound : .misconfigured, error.description), device: text)
    }
    guard let device else { throw Self.notHeld(text) }
    let all = there + awaited
    guard let found = all.first(where: { $0.device == device }) ?? all.first(where: { $0.isSame(device) }) else {
      throw Self.notHeld(text)
    }
    return found
  }

  /// The same, where the name of a line means all that are on it: at least one.
  func findAll(_ text: String?) throws(CallError) -> [Attachment] {
    let first = try find(text, asLine: true)
    guard first.device.unit != nil, (try? find(text)) == nil else { return [first] }
    return ordered.filter { $0 === first || $0.sharesLine(with: first) }
  }

  private static func notHeld(_ text: String?) -> CallError {
    let message =
      text.map { "the service has no accessory \($0): bridge-cli list shows what there is" }
      ?? "the service has no accessory at present"
    return CallError(AccessoryError(.notFound, message), device: text)
  }

  /// An attachment that is attached, and its accessory; waits while it is being opened.
  func contact(_ text: String?) async throws(CallError) -> (Attachment, OpenAccessory) {
    var attachment = try find(text)
    while true {
      attachment = attachment.latest
      try check(attachment, text)
      switch attachment.machine.state {
      case .attached:
        guard let open = attachment.open else { throw Self.notHeld(text) }
        return (attachment, open)
      case .lent: throw attachment.lending.refusal(attachment)
      case .opening: await wait(attachment)
      case .waiting where attachment.machine.isResting:
        perform(attachment.machine.wake(now: clock.now), on: attachment)
      case .waiting, .failed:
        let problem = attachment.machine.problem ?? .disconnected(attachment.target.address.description)
        throw CallError(problem, device: attachment.device.id)
      }
    }
  }

  /// Waits until the attachment's state may be another, or the task is cancelled.
  func wait(_ attachment: Attachment) async { for await _ in attachment.change() {} }

  /// Throws when waiting is pointless: the call is cancelled, the service ends, the attachment is forgotten.
  func check(_ attachment: Attachment, _ text: String?) throws(CallError) {
    if Task.isCancelled || isClosing {
      throw CallError(AccessoryError(.cancelled, "the call was given up"), device: text)
    }
    guard attachments[attachment.key] === attachment else {
      let problem = attachment.machine.problem ?? .disconnected(attachment.target.address.description)
      throw CallError(problem, device: attachment.device.id)
    }
  }

  /// Runs `body` with an attached accessory, as work that keeps it from resting.
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

  /// Work that was begun with `beginCall` is over.
  func endWork(_ attachment: Attachment) {
    attachment.endCall()
    if attachments[attachment.key] === attachment, attachment.machine.state == .attached { noteWork(attachment) }
  }

  func unsupported(_ attachment: Attachment) -> CallError {
    let address = attachment.target.address
    let reason =
      if let profile = attachment.profile {
        "the profile \(profile.name) names no driver for \(address)"
      } else if let name = attachment.device.driver {
        "\(address) was announced with the driver \(SafeText.escape(name)), which this service doesn't have"
      } else {
        "nothing says which protocol \(address) speaks"
      }
    return CallError(
      AccessoryError(
        .unsupported,
        "\(reason): its bytes can be had (Open), but no battery and no status; let it go, and attach it with the name of "
          + "the profile that fits"),
      device: attachment.device.id)
  }
}
