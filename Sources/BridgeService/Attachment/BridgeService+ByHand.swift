// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import Glibc

// Attaching and detaching for a client.

extension BridgeService {
  package func attach(_ call: Bridge.Attach, from caller: Caller) async throws(CallError) -> Bridge.Attach.Reply {
    let device = try await named(call.device, caller)
    let chosen = try call.profile.map { name throws(CallError) in
      guard let profile = profiles.profile(named: name) else {
        throw CallError(AccessoryError(.misconfigured, profiles.missing(name)), device: call.device)
      }
      return profile
    }
    let profile: Profile?
    if let chosen { profile = chosen } else { profile = profiles.profile(for: await heard(device)) }
    if device.unit == nil, let profile, profile.units != nil { return try await attach(device, profile, chosen) }
    if let attachment = attachments.holding(device) {
      guard chosen == nil || chosen == attachment.profile else {
        let message =
          "\(attachment.target.address) is attached with the profile \(attachment.profile?.name ?? "of its driver")"
        throw CallError(AccessoryError(.busy, message + ": detach it first"), device: attachment.device.id)
      }
      if let adapter = device.address.adapter, !attachment.isConnected(by: adapter) {
        let message = "\(attachment.target.address) is attached by another adapter than \(adapter): detach it first"
        throw CallError(AccessoryError(.busy, message), device: attachment.device.id)
      }
      let wasAttached = attachment.machine.state == .attached || attachment.machine.state == .lent
      try admit(attachment.profile, attachment)
      tryAtOnce(attachment)
      return try await settled(attachment, wasAttached)
    }
    do throws(AccessoryError) {
      try drivers.driver(for: device, profile)?.check(device.unit, label: device.place)
    } catch {
      throw CallError(error, device: call.device)
    }
    try admit(profile, nil)
    found.attach(device)
    return try await settled(attach(device, profile, isByHand: true, chosenProfile: chosen?.name), false)
  }

  /// What a device tells on the air of which only the address is known; without that where it isn't heard.
  private func heard(_ device: Device) async -> Device {
    let name = DeviceName(device.place, lookingAtFiles: false)
    guard device.source == .named, let (wish, limit) = name.wish() else { return device }
    for source in found.sources {
      if let heard = try? await source.search(for: wish, within: limit).first { return heard }
    }
    return device
  }

  /// Attaches the accessories on a line. Returns when the result is known for each of them.
  private func attach(
    _ line: Device, _ profile: Profile, _ chosen: Profile?
  ) async throws(CallError) -> Bridge.Attach.Reply {
    found.attach(line: line)
    let attachments = await hold(all: line, profile, chosen)
    guard let first = attachments.first else {
      throw CallError(AccessoryError(.timedOut, "no unit on \(line.address) has answered"), device: line.id)
    }
    var reply = Bridge.Attach.Reply(accessory: facts(first))
    reply.accessories = attachments.map { facts($0) }
    return reply
  }

  /// Attaches the accessories on a line. Returns them when the result is known for each. A search first asks all unit
  /// numbers.
  private func hold(all line: Device, _ profile: Profile, _ chosen: Profile?) async -> [Attachment] {
    let devices: [Device]
    if profile.units == .scan {
      _ = found.searches.accessories(on: line, profile, isByHand: true, chosen: chosen?.name, on: self)
      devices = await found.searches.finish(at: profile.choosingTransport(line).address, on: self)
    } else {
      devices = profile.accessories(on: line)
    }
    let held = devices.map { device in
      guard let attachment = attachments.holding(device) else {
        return attach(device, profile, isByHand: true, chosenProfile: chosen?.name)
      }
      tryAtOnce(attachment)
      return attachment
    }
    for one in held { await settle(one) }
    return held.map(\.latest)
  }

  /// Returns when the attachment is no longer opening.
  private func settle(_ attachment: Attachment) async {
    var attachment = attachment
    while attachment.machine.state == .opening, !Task.isCancelled, !isClosing {
      await wait(attachment)
      attachment = attachment.latest
    }
  }

  /// Attaches a device for the process that runs the service, unless a profile has done so. Throws the error of the
  /// first try if the policies allow no other.
  package func hold(_ device: Device, _ chosen: Profile? = nil) async throws(AccessoryError) {
    if device.unit == nil, let profile = chosen ?? profiles.profile(for: device), profile.units != nil {
      _ = await hold(all: device, profile, chosen)
      return
    }
    var attachment =
      attachments.holding(device)
      ?? attach(device, chosen ?? profiles.profile(for: device), isByHand: true, chosenProfile: chosen?.name)
    while attachment.machine.state == .opening, !Task.isCancelled {
      await wait(attachment)
      attachment = attachment.latest
    }
    if !attachments.contains(attachment) || attachment.machine.state == .failed {
      throw attachment.machine.problem ?? .disconnected(device.address.description)
    }
  }

  /// Retries a waiting or failed attachment at once, unless the limit is reached.
  private func tryAtOnce(_ attachment: Attachment) {
    switch attachment.machine.state {
    case .attached, .lent, .opening: return
    case .failed where refusal(attachment.profile) != nil: return
    case .waiting, .failed: perform(attachment.machine.plugged(now: clock.now), on: attachment)
    }
  }

  private func admit(_ profile: Profile?, _ attachment: Attachment?) throws(CallError) {
    guard attachment != nil || attachments.count < Self.deviceLimit else {
      throw .limitReached(
        Self.deviceLimit, "the service has \(attachments.count) accessories, which is its limit")
    }
    guard attachment == nil || attachment?.machine.state == .failed, let problem = refusal(profile) else { return }
    let limit = min(profile?.policies.maximumAttached ?? .max, configuration.maximumAttached)
    throw .limitReached(limit, problem.message)
  }

  /// The device with this full name. Only the service's own user may name a path that discovery doesn't know, since the
  /// service may be able to open what its caller may not.
  private func named(_ text: String, _ caller: Caller) async throws(CallError) -> Device {
    // A word that is no device's name may be a name below /dev.
    let name = DeviceName(text, lookingAtFiles: false)
    if name.isUnknown(among: found.all), let path = name.pathBelowDev, mayName(caller),
      await SetupQueue(label: "naming").run({ DeviceName.resolved(path) }) != nil
    {
      return try await named(path, caller)
    }
    let device = try named(text)
    guard device.source == .named else { return device }
    try checkNaming(text, caller)
    // Links are followed only for callers that may name any path, and on a queue of their own, since a file system may
    // hang.
    guard let node = device.address.node else { return device }
    guard let path = await SetupQueue(label: "naming").run({ DeviceName.resolved(node) }) else {
      throw CallError(AccessoryError(.notFound, ResolutionError.noMatch(text).description), device: text)
    }
    guard path != node else { return device }
    var found = try named(path).onLine(unit: device.unit)
    if found.source == .named { found.link = text }
    return found
  }

  private func named(_ text: String) throws(CallError) -> Device {
    do throws(ResolutionError) {
      return try DeviceName(text, lookingAtFiles: false).device(among: found.all)
    } catch {
      if case .ambiguous(_, let devices) = error {
        throw .ambiguousDevice(text, candidates: devices.map(\.id), error.description)
      }
      throw CallError(AccessoryError(.notFound, error.description), device: text)
    }
  }

  /// Whether the caller may name a path that discovery doesn't know.
  private func mayName(_ caller: Caller) -> Bool { caller.peer.user == 0 || caller.peer.user == geteuid() }

  private func checkNaming(_ path: String, _ caller: Caller) throws(CallError) {
    guard DeviceAddress(path) != nil else {
      throw CallError(AccessoryError(.misconfigured, "\(path) is not an absolute path"), device: path)
    }
    guard mayName(caller) else {
      throw CallError(
        AccessoryError(
          .permissionDenied,
          "the service doesn't know the device \(path); only the user who runs the service may attach other paths"),
        device: path)
    }
  }

  package func expect(_ call: Bridge.Expect, from caller: Caller) async throws(CallError) -> Bridge.Expect.Reply {
    try checkNaming(call.device, caller)
    expect(ExpectedDevice(call.device, identity: call.identity))
    return Bridge.Expect.Reply()
  }

  private func settled(_ attachment: Attachment, _ wasAttached: Bool) async throws(CallError) -> Bridge.Attach.Reply {
    var attachment = attachment
    while attachment.machine.state == .opening {
      try check(attachment, attachment.device.id)
      await wait(attachment)
      attachment = attachment.latest
    }
    return Bridge.Attach.Reply(accessory: facts(attachment), was_attached: wasAttached)
  }

  package func detach(_ call: Bridge.Detach, from caller: Caller) async throws(CallError) -> Bridge.Detach.Reply {
    let held = try findAll(call.device)
    for attachment in held {
      log.notice("\(attachment.name) is detached at the request of process \(caller.peer.process)")
      if attachment.machine.isPresent, attachment.device.source != .named { found.detach(attachment.device) }
      release(attachment)
    }
    // Detaching all units of a line also ends the search on it.
    var asking: [Task<Void, Never>] = []
    if let line = held.first?.device.line, held.count > 1 { asking = found.searches.end(line, on: self) }
    checkIdle()
    for closing in held.map(\.contact.closing) + asking { await closing?.value }
    let target = held[0].target
    return Bridge.Detach.Reply(device: held.count > 1 ? target.line : target)
  }
}

extension Attachment {
  /// Whether this adapter connects the device, as far as is known.
  fileprivate func isConnected(by adapter: BluetoothAdapterName) -> Bool {
    if let chosen = target.address.adapter ?? profile?.transport.bluetoothAdapter { return chosen == adapter }
    return adapter.number == nil || device.bluetooth.map { $0.adapter == adapter.description } ?? true
  }
}
