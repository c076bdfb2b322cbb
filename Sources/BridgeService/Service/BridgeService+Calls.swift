// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols

// The calls that have one answer.

extension BridgeService: BridgeHandler {
  /// Who the service is.
  package nonisolated var information: ServiceInformation { configuration.information }

<<<<<<< HEAD
=======
  // MARK: - Finding

  /// The attachment that `text` means: what a user would type. What is plugged in comes first: an accessory that is
  /// awaited may have left its path to another.
  func find(_ text: String?) throws(CallError) -> Attachment {
    let all = ordered
    let present = all.filter(\.machine.isPresent)
    // Where a path is meant it is a whole one; a serial number may look like another.
    if let text, !text.hasPrefix("/") {
      let namesakes = all.filter { $0.device.id == text || $0.device.serialNumber == text }
      if namesakes.count == 1 { return namesakes[0] }
    }
    if let attachment = try find(text, among: present) { return attachment }
    if present.count < all.count, let attachment = try find(text, among: all) { return attachment }
    throw Self.notHeld(text)
  }

  private func find(_ text: String?, among attachments: [Attachment]) throws(CallError) -> Attachment? {
    let device: Device
    do throws(ResolutionError) {
      device = try DeviceResolver.resolve(text, among: attachments.map(\.device))
    } catch {
      switch error {
      case .ambiguous(_, let devices):
        throw .ambiguousDevice(text, candidates: devices.map(\.id), error.description)
      case .malformed: throw CallError(AccessoryError(.misconfigured, error.description), device: text)
      case .noDevices, .noMatch: return nil
      }
    }
    return attachments.first { $0.device == device } ?? attachments.first { $0.isSame(device) }
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
      case .lent: throw lent(attachment)
      case .opening: await wait(attachment)
      case .waiting where attachment.machine.isResting:
        perform(attachment.machine.wake(now: clock.now), on: attachment)
      case .waiting, .failed:
        let problem = attachment.machine.problem ?? .disconnected(attachment.target.path)
        throw CallError(problem, device: attachment.device.id)
      }
    }
  }

  /// Waits until the attachment's state may be another, or the task is cancelled.
  func wait(_ attachment: Attachment) async { for await _ in attachment.change() {} }

  /// Throws when there is no use in going on: the call is cancelled, the service ends, the attachment is forgotten.
  func check(_ attachment: Attachment, _ text: String?) throws(CallError) {
    if Task.isCancelled || isClosing {
      throw CallError(AccessoryError(.cancelled, "the call was given up"), device: text)
    }
    guard attachments[attachment.key] === attachment else {
      let problem = attachment.machine.problem ?? .disconnected(attachment.target.path)
      throw CallError(problem, device: attachment.device.id)
    }
  }

  func lent(_ attachment: Attachment) -> CallError {
    let holder = attachment.holder
    let message = "\(attachment.target.path) is lent\(holder.map { " to \($0)" } ?? "")"
    return CallError(AccessoryError(.busy, message), device: attachment.device.id, holder: holder)
  }

  /// Runs `body` with an attached accessory, as work that keeps it from resting.
  private func work<Value: Sendable>(
    _ text: String?, _ body: (Attachment, any Accessory) async throws(AccessoryError) -> Value
  ) async throws(CallError) -> (Attachment, Value) {
    let (attachment, open) = try await contact(text)
    guard let accessory = open.accessory else { throw unsupported(attachment) }
    attachment.beginCall()
    defer {
      attachment.endCall()
      if attachments[attachment.key] === attachment, attachment.machine.state == .attached { noteWork(attachment) }
    }
    do throws(AccessoryError) {
      return (attachment, try await body(attachment, accessory))
    } catch {
      throw CallError(error, device: attachment.device.id)
    }
  }

  private func unsupported(_ attachment: Attachment) -> CallError {
    let name = attachment.profile.map { "the profile \($0.name)" } ?? "its profile"
    return CallError(
      AccessoryError(
        .unsupported,
        "\(name) names no driver for \(attachment.target.path): its bytes can be had (Open), but no battery and no status"
      ),
      device: attachment.device.id)
  }

  // MARK: - Calls

>>>>>>> e39686e056beee224c4a577f8f86b74694cc43a0
  package func list(_ call: Bridge.List, from caller: Caller) async throws(CallError) -> Bridge.List.Reply {
    Bridge.List.Reply(accessories: ordered.map(\.facts))
  }

  package func info(_ call: Bridge.GetInfo, from caller: Caller) async throws(CallError) -> Bridge.GetInfo.Reply {
    let attachment = try find(call.device)
    if attachment.machine.state == .lent {
      return Bridge.GetInfo.Reply(
        accessory: attachment.facts, identity: (attachment.identity?.value).map(Bridge.Identity.init))
    }
    let (held, open) = try await contact(call.device)
    let line: Bridge.Line?
    do throws(AccessoryError) {
      line = try await (open.device.control?.facts()).map(Bridge.Line.init)
    } catch {
      throw CallError(error, device: held.device.id)
    }
    let details = (open.accessory as? FramedAccessory).map { Bridge.ProtocolDetails($0.link.exchange) }
    let identity = open.accessory == nil ? nil : try await identity(call.device)
    return Bridge.GetInfo.Reply(accessory: held.facts, line: line, protocol: details, identity: identity)
  }

  private func identity(_ device: String?) async throws(CallError) -> Bridge.Identity {
    let clock = clock
    let (_, identity) = try await work(device) { attachment, accessory throws(AccessoryError) in
      let identity = try await accessory.identify()
      attachment.identity = .init(value: identity, time: clock.now)
      return identity
    }
    return Bridge.Identity(identity)
  }

  package func status(_ call: Bridge.GetStatus, from caller: Caller) async throws(CallError) -> Bridge.GetStatus.Reply {
    let attachment = try find(call.device)
    if attachment.machine.state == .lent {
      guard let status = attachment.status, let identity = attachment.identity else { throw lent(attachment) }
      return Bridge.GetStatus.Reply(
        device: Bridge.Device(attachment.target), status: Bridge.Status(status.value),
        identity: Bridge.Identity(identity.value), age_ms: age(status.time))
    }
    let (held, status) = try await work(call.device) { _, accessory throws(AccessoryError) in
      try await accessory.status()
    }
    note(status, held, isEvent: false)
    return Bridge.GetStatus.Reply(
      device: Bridge.Device(held.target), status: Bridge.Status(status), identity: try await identity(call.device))
  }

  package func battery(_ call: Bridge.GetBattery, from caller: Caller) async throws(CallError)
    -> Bridge.GetBattery.Reply
  {
    let attachment = try find(call.device)
    if attachment.machine.state == .lent {
      guard let battery = attachment.battery else { throw lent(attachment) }
      return Bridge.GetBattery.Reply(
        device: Bridge.Device(attachment.target), battery: Bridge.Battery(battery.value), age_ms: age(battery.time))
    }
    let (held, battery) = try await work(call.device) { _, accessory throws(AccessoryError) in
      try await accessory.battery()
    }
    note(battery, held, isEvent: false)
    return Bridge.GetBattery.Reply(device: Bridge.Device(held.target), battery: Bridge.Battery(battery))
  }

  private func age(_ time: MonotonicTime) -> Int { Int((clock.now - time).inNanoseconds / 1_000_000) }

  package func request(_ call: Bridge.Request, from caller: Caller) async throws(CallError) -> Bridge.Request.Reply {
    guard let command = AF1Command(word: call.command) else { throw .invalidParameter("command") }
    let payload = call.payload ?? []
    let clock = clock
    let limit = TimeLimit.duration(call.timeout_ms)
    do throws(CallError) {
      let (held, reply) = try await work(call.device) { attachment, accessory throws(AccessoryError) in
        guard let framed = accessory as? FramedAccessory else {
          throw AccessoryError(.unsupported, "\(accessory.label) takes no AF1 commands")
        }
        return try await TimeLimit.run(limit, clock, label: accessory.label) { () throws(AccessoryError) in
          try await framed.request(command, payload: payload)
        }
      }
      return Bridge.Request.Reply(
        device: Bridge.Device(held.target), command: command.name.lowercased(), command_byte: command.rawValue,
        reply: Bridge.Request.Answer(reply))
    } catch {
      if let attachment = try? find(call.device) { tell(.requestFailed, attachment, problem: error.accessoryError) }
      throw error
    }
  }
<<<<<<< HEAD
=======

  // MARK: - Attaching by hand

  package func attach(_ call: Bridge.Attach, from caller: Caller) async throws(CallError) -> Bridge.Attach.Reply {
    let device = try await named(call.device, caller)
    if let attachment = attachment(holding: device) {
      let wasAttached = attachment.machine.state == .attached || attachment.machine.state == .lent
      if !wasAttached, attachment.machine.state != .opening {
        try admit(attachment.profile, attachment)
        perform(attachment.machine.plugged(now: clock.now), on: attachment)
      }
      return try await settled(attachment, wasAttached)
    }
    let profile = profiles.profile(for: device)
    try admit(profile, nil)
    detached.removeAll { $0.path == device.path && $0.id == device.id }
    return try await settled(attach(device, profile, isByHand: true), false)
  }

  /// Holds a device for the process that the service is part of, unless a profile has it do so already. Throws what went
  /// wrong when that was tried for the first time and policies allow no more.
  package func hold(_ device: Device) async throws(AccessoryError) {
    var attachment =
      attachment(holding: device) ?? attach(device, profiles.profile(for: device), isByHand: true)
    while attachment.machine.state == .opening, !Task.isCancelled {
      await wait(attachment)
      attachment = attachment.latest
    }
    if attachments[attachment.key] !== attachment || attachment.machine.state == .failed {
      throw attachment.machine.problem ?? .disconnected(device.path)
    }
  }

  private func admit(_ profile: Profile?, _ attachment: Attachment?) throws(CallError) {
    guard attachment == nil || attachment?.machine.state == .failed, let problem = refusal(profile) else { return }
    let limit = min(profile?.policies.maximumAttached ?? .max, configuration.maximumAttached)
    throw .limitReached(limit, problem.message)
  }

  /// The device that is named in full. Who isn't the service's own user can only name what discovery knows: the
  /// service may be able to open what its caller may not.
  private func named(_ text: String, _ caller: Caller) async throws(CallError) -> Device {
    let known = knownDevices
    let device: Device
    do throws(ResolutionError) {
      device = try DeviceResolver.resolve(text, among: known)
    } catch {
      if case .ambiguous(_, let devices) = error {
        throw .ambiguousDevice(text, candidates: devices.map(\.id), error.description)
      }
      throw CallError(AccessoryError(.notFound, error.description), device: text)
    }
    if device.source == .named { try checkNaming(text, caller) }
    return device
  }

  private func checkNaming(_ path: String, _ caller: Caller) throws(CallError) {
    guard path.hasPrefix("/") else {
      throw CallError(AccessoryError(.misconfigured, "\(path) is no whole path"), device: path)
    }
    guard caller.peer.user == 0 || caller.peer.user == geteuid() else {
      throw CallError(
        AccessoryError(
          .permissionDenied, "\(path) is no device that the service knows of, and only its own user may name others"),
        device: path)
    }
  }

  package func expect(_ call: Bridge.Expect, from caller: Caller) async throws(CallError) -> Bridge.Expect.Reply {
    try checkNaming(call.device, caller)
    expect(call.device)
    return Bridge.Expect.Reply()
  }

  private func settled(_ attachment: Attachment, _ wasAttached: Bool) async throws(CallError) -> Bridge.Attach.Reply {
    var attachment = attachment
    while attachment.machine.state == .opening {
      try check(attachment, attachment.device.id)
      await wait(attachment)
      attachment = attachment.latest
    }
    return Bridge.Attach.Reply(accessory: attachment.facts, was_attached: wasAttached)
  }

  package func detach(_ call: Bridge.Detach, from caller: Caller) async throws(CallError) -> Bridge.Detach.Reply {
    let attachment = try find(call.device)
    log.notice("\(attachment.name) is let go of: process \(caller.peer.process) asks for it")
    if attachment.machine.isPresent, attachment.device.source != .named { detached.append(attachment.device) }
    let reply = Bridge.Detach.Reply(device: Bridge.Device(attachment.target))
    release(attachment)
    checkIdle()
    await attachment.closing?.value
    return reply
  }
>>>>>>> e39686e056beee224c4a577f8f86b74694cc43a0
}

extension AF1Command {
  /// The command that a word means: its name, or its number ("0x12").
  package init?(word: String) {
    let word = word.lowercased()
    let named: [AF1Command] = [.identify, .status, .battery, .echo]
    if let command = named.first(where: { $0.name.lowercased() == word }) {
      self = command
    } else if word.hasPrefix("0x"), word.utf8.count <= 4, let number = UInt8(word.dropFirst(2), radix: 16) {
      self.init(rawValue: number)
    } else {
      return nil
    }
  }
}
