// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO

// Devices come and go, and profiles change: which devices become attachments.

extension BridgeService {
  /// Attaches the devices of these sources, now and later. A source that can't be watched is logged and skipped.
  package func watch(_ sources: [any DeviceSource]) async {
    found.sources = sources
    if let files = configuration.history { await history.keep(in: files, on: self) }
    if let file = configuration.twinFile { await twins.kept.keep(in: file, on: self) }
    if let file = configuration.accessoryFile { await memory.kept.keep(in: file, on: self) }
    endpoints.renew(on: self)
    for source in sources {
      do throws(AccessoryError) {
        let events = try await source.events()
        found.watching.append(
          Task {
            for await event in events { self.take(event) }
            self.lost(source)
          })
      } catch {
        log.warning("some devices can't be noticed: \(error.message)")
      }
    }
    if let timeout = configuration.scanTimeout {
      found.scanTimer = clock.schedule(at: clock.now + timeout) { [weak self] in self?.post { $0.scanned() } }
    }
    renewWishes()
    log.info("looking for accessories")
    checkIdle()
  }

  private func lost(_ source: any DeviceSource) {
    if !isClosing {
      log.error("\(type(of: source)) has ended: the service no longer notices devices that are plugged in or removed")
    }
  }

  private func scanned() {
    let count = attachments.count(.attached) + attachments.count(.lent)
    log.notice(
      "the search has ended: \(count == 0 ? "no accessory" : "\(count) attached"); accessories that are plugged in later are still attached"
    )
  }

  /// Handles an event of a source.
  func take(_ event: DeviceEvent) {
    guard !isClosing else { return }
    if case .added = event, found.count >= Self.deviceLimit {
      return log.warning("too many devices: the service ignores one")
    }
    for event in twins.take(event, on: self) { take(marked: event) }
  }

  /// Marks the present devices anew, after it became known which of them have twins.
  func mark(_ marked: (Device) -> Device) {
    for device in found.all where marked(device) != device { take(marked: .changed(marked(device), from: device)) }
  }

  private func take(marked event: DeviceEvent) {
    switch event {
    case .added(let device):
      found.add(device)
      appeared(device)
    case .removed(let device):
      found.remove(device)
      disappeared(device)
    case .changed(let device, let old):
      found.replace(old, by: device)
      let held = attachments.held(on: old)
      let isSearched = found.searches.contains(old)
      found.searches.end(old, on: self)
      for attachment in held { change(attachment, to: device.onLine(unit: attachment.device.unit)) }
      if held.isEmpty || isSearched { appeared(device) }
    }
    checkIdle()
  }

  /// A device has appeared, with all accessories on its line.
  func appeared(_ line: Device) {
    for device in accessories(on: line, profiles.profile(for: line)) { appeared(accessory: device) }
  }

  /// The accessories on a line: those that the profile lists, or that a search has found so far.
  func accessories(on line: Device, _ profile: Profile?) -> [Device] {
    guard let profile else { return [line] }
    guard profile.units == .scan else { return profile.accessories(on: line) }
    return found.searches.accessories(on: line, profile, isByHand: false, on: self)
  }

  private func appeared(accessory device: Device) {
    if let attachment = attachments.awaiting(device) { return returned(attachment, as: device) }
    if let attachment = attachments.holding(device) { return recognized(attachment, as: device) }
    let profile = profiles.profile(for: device)
    let isWanted = mayAttach(device, profile)
    guard
      device.mayBeAccessory || profile?.transport.preferredTransport != nil || device.bluetooth != nil && isWanted
    else { return }
    guard !found.isDetached(device) else { return }
    let isExpected = found.expectations.take(device, now: clock.now)
    // A conflict of profiles becomes an attachment whose problem names the profiles.
    let hasConflict = profile == nil && hasConflict(device)
    guard attachments.count < Self.deviceLimit else {
      return log.warning("too many accessories: \(SafeText.escape(device.id)) is ignored")
    }
    if isWanted || isExpected || hasConflict { attach(device, profile, isByHand: !isWanted && !hasConflict) }
  }

  /// A search has found an accessory on a line.
  func take(found device: Device) {
    appeared(accessory: device)
    checkIdle()
  }

  /// A source now reports a device that was known only by its path. The attachment takes the source's device, and the
  /// profile that claims it.
  private func recognized(_ attachment: Attachment, as device: Device) {
    // A Bluetooth device's data may change between two looks, so use the value of the last event.
    if device.source == .bluetooth, attachment.device.source == .bluetooth {
      attachment.claim.device = device
      return
    }
    guard attachment.device.source == .named, device.source != .named else { return }
    log.info("\(attachment.name) is \(SafeText.escape(device.id))")
    let profile = profile(of: attachment, as: device)
    // BlueZ reports what the service itself has just connected.
    if device.bluetooth != nil, profile == attachment.profile {
      attachment.claim = claim(
        device.by(attachment.claim.adapter), profile, isByHand: attachment.claim.isByHand,
        chosenProfile: attachment.claim.chosenProfile)
      return renewWishes()
    }
    if attachment.machine.state != .lent { return replace(attachment, by: device, profile) }
    // The device is opened again when the borrower returns it.
    attachment.claim = claim(
      device.by(attachment.claim.adapter), profile, isByHand: attachment.claim.isByHand,
      chosenProfile: attachment.claim.chosenProfile)
  }

  /// Replaces an attachment whose device's profile or identity has changed.
  func replace(_ attachment: Attachment, by device: Device, _ profile: Profile?) {
    release(attachment, admitting: false)
    let successor = attach(
      device.by(attachment.claim.adapter), profile, isByHand: attachment.claim.isByHand,
      chosenProfile: attachment.claim.chosenProfile,
      after: attachment.contact.closing)
    attachment.replace(by: successor)
    if successor.alarmKey != attachment.alarmKey { alarms.drop(attachment, isAway: false, on: self) }
  }

  /// The profile that a client chose, or the one that claims the device.
  func profile(of attachment: Attachment, as device: Device) -> Profile? {
    attachment.claim.chosenProfile.map { profiles.profile(named: $0) } ?? profiles.profile(for: device)
  }

  /// Attaches a device as soon as a source reports it, even if no profile claims it.
  package func expect(_ expected: ExpectedDevice) {
    if let attachment = attachments.ordered.first(where: { $0.machine.isPresent && expected.fits($0.device) }) {
      guard attachment.machine.state == .failed, !attachment.machine.isRefused else { return }
      return perform(attachment.machine.plugged(now: clock.now), on: attachment)
    }
    found.expectations.add(expected, now: clock.now)
    for device in found.all where expected.fits(device) { appeared(device) }
  }

  private func disappeared(_ device: Device) {
    found.searches.end(device, on: self)
    for attachment in attachments.held(on: device) {
      log.debug("\(attachment.name) was removed from \(SafeText.escape(device.address.description))")
      let gone = AccessoryError.disconnected(attachment.target.place)
      perform(attachment.machine.unplugged(gone, now: clock.now), on: attachment)
    }
  }

  private func returned(_ attachment: Attachment, as device: Device) {
    attachment.historyKey = historyKey(for: device)
    attachment.claim.device = device
    attachment.given = memory.name(for: device, on: self)
    cameBack(attachment)
  }

  private func cameBack(_ attachment: Attachment) {
    let isOnTheAir = attachment.device.bluetooth != nil
    let actions = isOnTheAir ? attachment.machine.heard(now: clock.now) : attachment.machine.plugged(now: clock.now)
    perform(actions, on: attachment)
  }

  private func change(_ attachment: Attachment, to device: Device) {
    let address = attachment.target.address
    let isOld = attachment.device.bluetooth?.isInReach == true
    if attachment.device.id == device.id { attachment.claim.device = device } else { rename(attachment, to: device) }
    guard attachment.target.address != address else {
      if !isOld, device.bluetooth?.isInReach == true, !attachment.machine.isResting,
        [.waiting, .failed].contains(attachment.machine.state), !attachment.machine.isRefused
      {
        log.info("\(attachment.name) can be heard again")
        cameBack(attachment)
      }
      return
    }
    // The device's default transport has changed: its terminal has appeared or disappeared.
    log.info("\(attachment.name) is now at \(SafeText.escape(attachment.target.address.description))")
    if attachment.machine.state == .attached {
      close(attachment)
      _ = attachment.machine.rest()
    }
    if attachment.machine.state != .lent { perform(attachment.machine.plugged(now: clock.now), on: attachment) }
  }

  /// Another accessory with its identity has come, so its port belongs to its name now. It stays open, and whoever uses it has it.
  private func rename(_ attachment: Attachment, to device: Device) {
    let isTold = attachment.contact.isTold
    if isTold { tell(.disconnected, attachment, problem: .disconnected(attachment.target.place)) }
    alarms.drop(attachment, isAway: false, on: self)
    attachment.claim.device = device
    (attachment.alarmKey, attachment.historyKey) = (device.id, historyKey(for: device))
    attachment.given = memory.name(for: device, on: self)
    alarms.watch(attachment, on: self)
    if isTold { tell(.connected, attachment) }
    log.notice("\(attachment.name) is at \(SafeText.escape(attachment.target.place))")
    alarms.judge(attachment, on: self)
  }

  // MARK: - Settings that change

  /// Replaces the rules of alarms of the configuration and of the command line. Rules that stay keep their state.
  package func use(_ rules: AlarmRules) { alarms.use(rules, on: self) }

  /// Applies other profiles: attaches devices that match, detaches those that no longer match, and reopens those with
  /// changed settings. Lent accessories stay as they are.
  package func use(_ profiles: ProfileStore) {
    guard !isClosing else { return }
    self.profiles = profiles
    for attachment in attachments.ordered where attachment.machine.state != .lent {
      let device = attachment.device
      let profile = profile(of: attachment, as: device)
      let isUnclaimed =
        !attachment.claim.isByHand && !mayAttach(device, profile) && (profile != nil || !hasConflict(device))
      // The profile no longer lists this unit, or it now lists several where there was one.
      if let profile, !attachment.claim.isByHand, !profile.hasAccessory(attachment.device.unit) {
        log.notice("\(attachment.name): its profile now names other units")
        release(attachment)
        continue
      }
      guard profile != attachment.profile || isUnclaimed else { continue }
      if isUnclaimed || profile == nil && !attachment.claim.isByHand {
        log.notice(
          "\(attachment.name): \(profile == nil ? "no profile matches it" : "its profile doesn't let it be connected") any longer"
        )
        release(attachment)
      } else {
        log.notice("\(attachment.name): its profile has changed")
        replace(attachment, by: attachment.device, profile)
      }
    }
    for device in found.all { appeared(device) }
    endpoints.renew(on: self)
    renewWishes()
    checkIdle()
  }
}
