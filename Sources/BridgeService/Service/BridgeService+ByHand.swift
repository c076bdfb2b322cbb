// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import Glibc

// Attaching and letting go by hand.

extension BridgeService {
  package func attach(_ call: Bridge.Attach, from caller: Caller) async throws(CallError) -> Bridge.Attach.Reply {
    let device = try await named(call.device, caller)
    let chosen = try call.profile.map { name throws(CallError) in
      guard let profile = profiles.profile(named: name) else {
        throw CallError(AccessoryError(.misconfigured, "there is no profile \(name)"), device: call.device)
      }
      return profile
    }
    if let attachment = attachment(holding: device) {
      guard chosen == nil || chosen == attachment.profile else {
        let message =
          "\(attachment.target.address) is held by the profile \(attachment.profile?.name ?? "of its driver")"
        throw CallError(AccessoryError(.busy, message + ": let it go first"), device: attachment.device.id)
      }
      let wasAttached = attachment.machine.state == .attached || attachment.machine.state == .lent
      if !wasAttached, attachment.machine.state != .opening {
        try admit(attachment.profile, attachment)
        perform(attachment.machine.plugged(now: clock.now), on: attachment)
      }
      return try await settled(attachment, wasAttached)
    }
    let profile = chosen ?? profiles.profile(for: device)
    try admit(profile, nil)
    detached.removeAll { $0.address == device.address && $0.id == device.id }
    return try await settled(attach(device, profile, isByHand: true, chosenProfile: chosen?.name), false)
  }

  /// Holds a device for the process that the service is part of, unless a profile has it do so already. Throws what went
  /// wrong when that was tried for the first time and policies allow no more.
  package func hold(_ device: Device, _ chosen: Profile? = nil) async throws(AccessoryError) {
    var attachment =
      attachment(holding: device)
      ?? attach(device, chosen ?? profiles.profile(for: device), isByHand: true, chosenProfile: chosen?.name)
    while attachment.machine.state == .opening, !Task.isCancelled {
      await wait(attachment)
      attachment = attachment.latest
    }
    if attachments[attachment.key] !== attachment || attachment.machine.state == .failed {
      throw attachment.machine.problem ?? .disconnected(device.address.description)
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
    let device = try named(text)
    guard device.source == .named else { return device }
    try checkNaming(text, caller)
    // Links are followed for who may name any path; where that hangs, nobody else waits.
    guard let node = device.address.node else { return device }
    guard let path = await SetupQueue(label: "naming").run({ DeviceResolver.resolved(node) }) else {
      throw CallError(AccessoryError(.notFound, ResolutionError.noMatch(text).description), device: text)
    }
    guard path != node else { return device }
    var found = try named(path)
    if found.source == .named { found.link = text }
    return found
  }

  private func named(_ text: String) throws(CallError) -> Device {
    do throws(ResolutionError) {
      return try DeviceResolver.resolve(text, among: knownDevices, lookingAtFiles: false)
    } catch {
      if case .ambiguous(_, let devices) = error {
        throw .ambiguousDevice(text, candidates: devices.map(\.id), error.description)
      }
      throw CallError(AccessoryError(.notFound, error.description), device: text)
    }
  }

  private func checkNaming(_ path: String, _ caller: Caller) throws(CallError) {
    guard DeviceAddress(path) != nil else {
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
    return Bridge.Attach.Reply(accessory: attachment.facts(now: clock.bootTime), was_attached: wasAttached)
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
}
