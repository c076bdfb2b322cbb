// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import Logging

// Creating and removing attachments, carrying out their actions, and opening and closing their devices, on tasks that the service waits
// for in the end.

extension BridgeService {
  // MARK: - Attaching and releasing

  /// Creates the attachment of a device, and opens the device unless the limit is reached.
  @discardableResult
  func attach(
    _ device: Device, _ profile: Profile?, isByHand: Bool = false, chosenProfile: String? = nil,
    after closing: Task<Void, Never>? = nil
  ) -> Attachment {
    let policies = configuration.policies(profile)
    let problem = refusal(profile)
    // A unit that may sleep doesn't get the tries without limit of a silent unit.
    let isUnit = device.unit != nil && profile?.polls.letsSleep != true
    let machine =
      problem.map {
        AttachmentMachine(refused: $0, policies: policies, isUnit: isUnit, now: clock.now)
      } ?? AttachmentMachine(policies: policies, isUnit: isUnit, now: clock.now)
    let attachment = Attachment(
      key: attachments.nextKey(), claim(device, profile, isByHand: isByHand, chosenProfile: chosenProfile),
      historyKey: historyKey(for: device), machine, taps: taps(for: device),
      after: closing)
    attachments.add(attachment)
    attachment.given = memory.name(for: device, on: self)
    attachment.before = memory.came(attachment.device, on: self)
    alarms.watch(attachment, raised: attachment.before?.alarms ?? [], on: self)
    if let problem {
      log.error("\(attachment.name) is not attached: \(problem.message)")
    } else {
      log.info(
        "\(attachment.name) is at \(SafeText.escape(attachment.target.place)), profile \(profile?.name ?? "none")"
      )
      tell(.found, attachment)
      perform([.open], on: attachment)
    }
    return attachment
  }

  /// The name of an accessory's history: its identity. Of twins one keeps the history from before they were known as such; and each
  /// keeps what an earlier version has recorded by its place.
  func historyKey(for device: Device) -> String {
    let alone = device.lineIdentity + device.unitSuffix
    let placed = "\(alone) \(device.steadyPlace)"
    func isKnown(_ key: String) -> Bool { history.knows(key) || memory.knows(key) }
    if isKnown(placed) { return placed }
    return device.hasTwin && isKnown(alone) && twins.inherits(device, on: self) ? alone : device.id
  }

  /// The hub for a line's traffic, which all accessories on the line share.
  func taps(for device: Device) -> TapHub {
    attachments.units(onLineOf: device).first?.contact.taps ?? found.searches.taps(for: device) ?? TapHub(clock: clock)
  }

  /// Whether an attachment or a search still uses the hub.
  func isUsed(_ taps: TapHub) -> Bool {
    attachments.uses(taps) || found.searches.uses(taps)
  }

  /// The claim for a device: how to attach it.
  func claim(_ device: Device, _ profile: Profile?, isByHand: Bool, chosenProfile: String?) -> AttachmentClaim {
    let driver = drivers.driver(for: device, profile)
    // The protocol strings are those of the profile, or of the profile with the driver's name.
    let described = profile ?? driver.flatMap { profiles.profile(named: $0.name) }
    // The adapter isn't a part of what the device is: sources report it without one.
    var reported = device
    reported.address = device.address.ofAnyAdapter
    var claim = AttachmentClaim(
      device: reported, adapter: device.address.adapter, profile: profile, driver: driver, isByHand: isByHand,
      chosenProfile: chosenProfile,
      protocolStrings: described?.protocolStrings ?? [])
    let rules = opener(for: claim).writeRules
    claim.writes = rules.hasWrites ? rules.allowsWrites ? .allowed : .refused : nil
    return claim
  }

  /// The error if the limit of attached accessories is reached.
  func refusal(_ profile: Profile?) -> AccessoryError? {
    let holding = attachments.holdingCount
    if holding >= configuration.maximumAttached {
      return AccessoryError(
        .busy, "\(Amount.of(holding, "accessory", is: ("is", "are"))) attached, which is the limit (--max-accessories)")
    }
    guard let profile, let limit = profile.policies.maximumAttached else { return nil }
    let count = attachments.holdingCount(profile.name)
    guard count >= limit else { return nil }
    return AccessoryError(
      .busy,
      "\(Amount.of(count, "accessory")) of the profile \(profile.name) \(count == 1 ? "is" : "are") attached, "
        + "which is its limit (max_attached)"
    )
  }

  /// Removes an attachment and closes its device. With `admitting`, a refused device gets the free place; without, another
  /// attachment of the device follows. `isAway`: the device was unplugged, and not let go.
  func release(_ attachment: Attachment, admitting: Bool = true, isAway: Bool = false) {
    attachments.remove(attachment)
    if attachment.device.bluetooth != nil { renewWishes() }
    close(attachment)
    attachment.lending.revoke()
    attachment.sharing?.end(nil)
    if !isUsed(attachment.contact.taps) { attachment.contact.taps.end() }
    attachment.timer.cancel(on: clock)
    tellGone(attachment, .closed(attachment.target.place))
    attachment.changed()
    if admitting {
      alarms.drop(attachment, isAway: isAway, on: self)
      admitRefused()
    }
  }

  /// Opens devices that were refused, as far as the limit allows now.
  private func admitRefused() {
    guard !isClosing else { return }
    while let attachment = attachments.firstRefused({ refusal($0.profile) == nil }) {
      perform(attachment.machine.plugged(now: clock.now), on: attachment)
    }
  }

  // MARK: - Actions

  /// Carries out the state machine's actions, and schedules its deadline.
  func perform(_ actions: [AttachmentMachine.Action], on attachment: Attachment) {
    for action in actions {
      switch action {
      case .open: open(attachment)
      case .resetBus: attachment.contact.mustReset = true
      case .tellRecovery(let error): tell(.requestFailed, attachment, problem: error)
      case .close: close(attachment)
      case .end:
        attachment.open?.opened.channel.deviceWasRemoved()
        attachment.sharing?.lent?.session.transport.deviceWasRemoved()
      case .reportAttached: attached(attachment)
      case .tellGone(let error): tellGone(attachment, error)
      case .tellWaiting(let error, let pause, let number, let count):
        logWaiting(attachment, error, pause, number, count)
      case .tellFailed(let error):
        let message = SafeText.escape(error.message, limit: 300)
        log.log(
          level: attachment.machine.isPresent ? .error : .notice, "\(attachment.name): \(message); given up")
        // No source reports when a device that a user has named by its path comes back.
        if attachment.device.source == .named { forget(attachment) }
      case .forget: forget(attachment)
      }
    }
    // The device never comes back with an address that it has changed. It will be attached with its next address.
    if attachment.awaitsPassingAddress { forget(attachment) }
    schedule(attachment)
    attachment.changed()
    alarms.countSilence(of: attachment, on: self)
    if attachment.device.bluetooth != nil { renewWishes() }
    checkIdle()
  }

  private func logWaiting(
    _ attachment: Attachment, _ error: AccessoryError, _ pause: Duration, _ number: Int, _ count: Int?
  ) {
    let tries = count.map { "try \(number) of \($0)" } ?? "try \(number)"
    let message = SafeText.escape(error.message, limit: 300)
    if attachment.machine.deadline == nil {
      log.notice("\(attachment.name): \(message); waiting until it is connected again")
    } else {
      log.notice("\(attachment.name): \(message); \(tries) in \(Self.text(pause))")
    }
  }

  private func forget(_ attachment: Attachment) {
    guard attachments.contains(attachment) else { return }
    log.info("\(attachment.name) is no longer attached")
    // No source tells whether a device that a user has named is there.
    let isAway = !attachment.machine.isPresent || attachment.device.source == .named
    if isAway, attachment.machine.hasBeenAttached, !attachment.awaitsPassingAddress {
      tellGone(attachment, .closed(attachment.target.place))
      memory.keep(attachment, on: self)
    }
    release(attachment, isAway: isAway)
  }

  /// Sets the timer for the state machine's deadline.
  private func schedule(_ attachment: Attachment) {
    let deadline = !attachments.contains(attachment) ? nil : attachment.machine.deadline
    let key = attachment.key
    attachment.timer.set(deadline, on: clock) { [weak self] in
      self?.post { service in
        guard let attachment = service.attachments[key], attachment.timer.deadline == deadline else { return }
        attachment.timer.ended()
        service.perform(attachment.machine.timePassed(now: service.clock.now), on: attachment)
      }
    }
  }

  // MARK: - Events

  /// Sends an event to subscribers.
  func tell(
    _ name: Bridge.EventName, _ attachment: Attachment, battery: BatteryReading? = nil,
    status: AccessoryStatus? = nil, problem: AccessoryError? = nil, values: [Read<AccessoryValue>]? = nil
  ) {
    var event = Bridge.Event(
      name, time: wallClock, device: attachment.target, battery: battery,
      status: status, problem: problem.map(Bridge.Problem.init), values: values)
    if name.isReading {
      event.readingsAge = attachment.readings.age(now: clock.bootTime)
      event.missing = attachment.readings.missing
    }
    clients.events.tell(event)
  }

  func tellGone(_ attachment: Attachment, _ error: AccessoryError) {
    if attachment.contact.isTold {
      attachment.disconnected(at: wallClock)
      tell(.disconnected, attachment, problem: error)
    }
    history.interrupt(attachment.historyKey)
    attachment.contact.isTold = false
    // A unit that doesn't answer counts as gone, but its line is still there, so the line stays shared.
    if attachment.device.unit == nil || !attachment.machine.isPresent { attachment.sharing?.end(error) }
  }

  /// Seconds since 1970, UTC, to the millisecond: the only such clock of the service.
  var wallClock: Double { configuration.wallClock() }

  // MARK: - Opening and closing

  func open(_ attachment: Attachment) {
    let key = attachment.key
    let opener = opener(for: attachment)
    // A device that profiles of different protocols match isn't opened.
    let conflict = attachment.profile == nil ? profiles.conflict(for: attachment.device, label: opener.label) : nil
    // The number of a closed pseudo-terminal is reused at once, so the path may belong to another device.
    let (known, sources) = (attachment.device.line, found.sources)
    let isTold = known.source == .simulator && found.contains(known)
    let adapter = adapter(connecting: attachment)
    let isInReach = attachment.device.bluetooth?.isInReach == true
    let node = attachment.contact.mustReset ? attachment.device.usb?.node : nil
    attachment.contact.mustReset = false
    let (name, hooks, log) = (attachment.name, hooks, log)
    attachment.contact.begin(at: clock.now) { generation, closing in
      let mustLook = generation > 1 && isTold
      return run {
        await closing?.value
        var ticket: Int?
        do throws(AccessoryError) {
          if let conflict { throw conflict }
          try await self.checkName(key)
          if let node { await Self.reset(node, of: name, hooks, log) }
          if mustLook, await Self.isGone(known, sources) { throw .notThere(opener.label) }
          if let adapter { ticket = try await self.takeConnection(key, at: adapter, isAsked: false) }
          let open = try await OpenAccessory.open(opener)
          await self.opened(key, generation, open, ticket)
        } catch {
          await self.giveBack(ticket)
          await self.openingFailed(key, generation, error, isInReach)
        }
      }
    }
  }

  /// Resets a silent device on its bus. A failure is only logged: the device is opened again anyway.
  private static func reset(_ node: String, of name: String, _ hooks: ServiceHooks, _ log: Logger) async {
    do throws(AccessoryError) {
      try await hooks.resetUSB(node)
      log.notice("\(name) was reset on its bus")
    } catch {
      log.warning("\(name) can't be reset on its bus: \(SafeText.escape(error.message, limit: 300))")
    }
  }

  /// How the attachment's device is opened. Its traffic goes to the attachment's taps.
  func opener(for attachment: Attachment) -> DeviceOpener {
    var opener = opener(for: attachment.claim)
    opener.tap = attachment.contact.taps
    return opener
  }

  func opener(for claim: AttachmentClaim) -> DeviceOpener {
    var opener = DeviceOpener(claim.target, profile: claim.profile, isChosen: true, drivers: drivers)
    opener.driver = claim.driver
    if claim.chosenProfile != nil || claim.profile == nil { opener.claims = profiles.claiming(claim.device) }
    (opener.io, opener.clock) = (io, clock)
    return opener
  }

  /// Whether a device is no longer at its path. Numbers of pseudo-terminals are reused, so the path may be another
  /// device's, and the source may not have reported that yet.
  private static func isGone(_ device: Device, _ sources: [any DeviceSource]) async -> Bool {
    for source in sources {
      // If the source fails, the device counts as present.
      guard let isPresent = try? await source.isPresent(device) else { return false }
      if isPresent { return false }
    }
    return true
  }

  private func opened(_ key: Int, _ generation: Int, _ open: OpenAccessory, _ ticket: Int?) async {
    guard !isClosing, let attachment = attachments[key], attachment.generation == generation else {
      await open.close()
      return giveBack(ticket)
    }
    if !attachment.machine.hasBeenAttached { tellLearned(attachment) }
    attachment.contact.opened(open, with: ticket, at: clock.now)
    perform(attachment.machine.opened(now: clock.now), on: attachment)
  }

  private func openingFailed(_ key: Int, _ generation: Int, _ error: AccessoryError, _ wasInReach: Bool) {
    guard let attachment = attachments[key], attachment.generation == generation else { return }
    perform(attachment.machine.openingFailed(error, wasInReach: wasInReach, now: clock.now), on: attachment)
  }

  /// Closes the device, also while it is being opened; the next opening waits for that.
  func close(_ attachment: Attachment) {
    attachment.readings.forgetNews()
    let ticket = attachment.contact.ticket
    attachment.contact.ticket = nil
    attachment.contact.close(clock) { close in
      run {
        await close()
        await self.giveBack(ticket)
      }
    }
  }
}

extension AccessoryError {
  fileprivate static func notThere(_ path: String) -> AccessoryError {
    AccessoryError(.notFound, "it is no longer at \(path)")
  }
}

extension Device {
  /// Where it is plugged in, by udev's name of the place if there is one: it stays the same when nodes get other numbers.
  fileprivate var steadyPlace: String {
    (links.first { $0.contains("/by-path/") } ?? address.description) + unitSuffix
  }
}
