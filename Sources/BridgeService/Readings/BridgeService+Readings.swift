// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Readings of attached accessories: those that they send, those that the service asks for after attaching, and polls. Each accessory
// with polls has one timer for them.

extension BridgeService {
  func attached(_ attachment: Attachment) {
    guard let open = attachment.open else { return }
    let how = open.accessory == nil ? " without a driver: only its bytes can be used" : ""
    log.log(
      level: attachment.contact.takesTurns ? .debug : .notice,
      "\(attachment.name) is attached at \(SafeText.escape(attachment.target.address.description))\(how)")
    let (key, generation) = (attachment.key, attachment.generation)
    attachment.contact.listening = open.follow(on: clock) { news in
      await self.heard(key, generation, news)
    } ended: { error in
      await self.ended(key, generation, error)
    }
    if !attachment.contact.isTold {
      attachment.connected(at: wallClock)
      tell(.connected, attachment)
    }
    attachment.contact.isTold = true
    alarms.heard(attachment, on: self)
    let profile = attachment.profile
    attachment.readings.freshness = Freshness(attachment.driver) { interval(of: $0, profile) }
    if let accessory = open.accessory {
      run {
        await self.ask(accessory, key, generation)
        await self.beginPolls(key, generation)
      }
    }
    noteWork(attachment)
    endpoints.offer(attachment, on: self)
  }

  private func heard(_ key: Int, _ generation: Int, _ news: AccessoryNews) {
    guard let attachment = attachments[key], attachment.generation == generation else { return }
    showedLife(attachment)
    answered(attachment)
    switch news {
    case .battery(let reading): note(reading, attachment, isEvent: true)
    case .status(let status): note(status, attachment, isEvent: true)
    case .values(let values): note(values, .reported, attachment)
    case .other: alarms.heard(attachment, on: self)
    }
  }

  private func ended(_ key: Int, _ generation: Int, _ error: AccessoryError) {
    guard let attachment = attachments[key], attachment.generation == generation else { return }
    perform(attachment.machine.ended(error, now: clock.now), on: attachment)
  }

  /// Stores a reading and reports it if it is an event or has changed. Returns the stored reading.
  @discardableResult
  func note(_ reading: BatteryReading, _ attachment: Attachment, isEvent: Bool) -> BatteryReading {
    let (reading, isNew) = attachment.readings.note(reading, at: clock.bootTime)
    history.record(reading, of: attachment, on: self)
    if isEvent || isNew { tell(.battery, attachment, battery: reading) }
    alarms.judge(attachment, on: self)
    return reading
  }

  func note(_ status: AccessoryStatus, _ attachment: Attachment, isEvent: Bool) {
    let isNew = attachment.readings.note(status, at: clock.bootTime)
    if isEvent || isNew { tell(.status, attachment, status: status) }
    alarms.judge(attachment, on: self)
  }

  /// Reads identity, status and battery, so that the service can report them while the accessory is lent. Unsupported
  /// requests are skipped.
  private func ask(_ accessory: any Accessory, _ key: Int, _ generation: Int) async {
    func present() -> Attachment? {
      attachments[key].flatMap { $0.generation == generation && $0.machine.state == .attached ? $0 : nil }
    }
    guard let asked = present() else { return }
    asked.beginCall()
    defer { asked.endCall() }
    if let identity = try? await accessory.identify() {
      present()?.readings.note(identity, at: clock.bootTime)
    }
    if present() != nil, let status = try? await accessory.status(), let attachment = present() {
      attachment.readings.missing = accessory.unanswered
      note(status, attachment, isEvent: false)
    }
    if present() != nil, let battery = try? await accessory.battery(), let attachment = present() {
      attachment.readings.missing = accessory.unanswered
      note(battery, attachment, isEvent: false)
    }
    if let attachment = present() { note(missing: accessory.unanswered, attachment) }
  }

  /// Takes what the accessory doesn't answer or refuses. If that has changed, tells it with a reading.
  func note(missing: String?, _ attachment: Attachment) {
    guard attachment.readings.missing != missing else { return }
    attachment.readings.missing = missing
    if let battery = attachment.readings.battery {
      tell(.battery, attachment, battery: battery.value)
    } else if let status = attachment.readings.status {
      tell(.status, attachment, status: status.value)
    } else {
      tell(.values, attachment, values: [])
    }
  }

  /// The log has one line when an accessory begins to leave something unanswered, and one when it answers everything again.
  private func logMissing(_ attachment: Attachment) {
    let (missing, logged) = (attachment.readings.missing, attachment.readings.loggedMissing)
    guard missing != logged else { return }
    attachment.readings.loggedMissing = missing
    let text = missing.map { "\(attachment.name): \(SafeText.escape($0, limit: 1_000))" }
    log.log(
      level: missing == nil || logged == nil ? .notice : .info,
      "\(text ?? "\(attachment.name) answers everything again")")
  }

  /// Restarts the timer after which an idle accessory is closed.
  func noteWork(_ attachment: Attachment) {
    guard let limit = configuration.policies(attachment.profile).idleClose else { return }
    attachment.contact.idleTimer.cancel(on: clock)
    let (key, generation) = (attachment.key, attachment.generation)
    attachment.contact.idleTimer.set(clock.now + limit, on: clock) { [weak self] in
      self?.post { service in
        guard let attachment = service.attachments[key], attachment.generation == generation else { return }
        guard attachment.use.callCount == 0, !service.isHeard(attachment) else { return service.noteWork(attachment) }
        service.log.info(
          "\(attachment.name) was not used for \(Self.text(limit)): it is closed until it is needed again (idle_close)")
        service.perform(attachment.machine.rest(), on: attachment)
      }
    }
  }

  // MARK: - Values

  func measured(_ entry: ValuesReading.Entry, _ attachment: Attachment) -> Read<AccessoryValue> {
    let (age, isStale) = age(.values, entry.time, attachment)
    return Read(entry.value, age: age, isStale: isStale)
  }

  /// Stores values, and reports changed ones to subscribers, now or when the next report is due.
  func note(_ values: [AccessoryValue], _ origin: Readings.Origin, _ attachment: Attachment) {
    let names = attachment.readings.note(values, origin, at: clock.bootTime)
    history.record(values, of: attachment, on: self)
    alarms.judge(attachment, on: self)
    guard clients.events.wantsValues else { return }
    attachment.readings.tell(names, now: clock.now)
    tellValues(attachment)
  }

  private func tellValues(_ attachment: Attachment) {
    let entries = attachment.readings.takeNews(now: clock.now)
    if !entries.isEmpty {
      var values: [Read<AccessoryValue>] = []
      for entry in entries { values.append(measured(entry, attachment)) }
      tell(.values, attachment, values: values)
    }
    guard let deadline = attachment.readings.newsDeadline, attachment.contact.valuesTimer.deadline == nil else {
      return
    }
    let (key, generation) = (attachment.key, attachment.generation)
    attachment.contact.valuesTimer.set(deadline, on: clock) { [weak self] in
      self?.post { service in
        guard let attachment = service.attachments[key], attachment.generation == generation else { return }
        attachment.contact.valuesTimer.ended()
        service.tellValues(attachment)
      }
    }
  }

  // MARK: - Polls

  /// The interval of a poll: the user's setting, or else the profile's, or else the driver's; nil for never.
  func interval(of poll: AccessoryPoll, _ profile: Profile?) -> Duration? {
    if let wanted = configuration.poll { return wanted.duration }
    return (profile?.polls ?? PollPolicy()).interval(of: poll)
  }

  /// Begins to poll, after the first reading of identity, status and battery.
  func beginPolls(_ key: Int, _ generation: Int) {
    guard let attachment = attachments[key], attachment.generation == generation, let driver = attachment.driver else {
      return
    }
    let profile = attachment.profile
    attachment.readings.polls = PollSchedule(
      driver.polls, letsSleep: profile?.polls.letsSleep ?? false, interval: { interval(of: $0, profile) },
      now: clock.now)
    schedulePoll(attachment)
    noteRead(attachment)
  }

  /// Sets the timer for the next poll.
  private func schedulePoll(_ attachment: Attachment) {
    let deadline = attachment.open == nil ? nil : attachment.readings.polls.deadline
    let (key, generation) = (attachment.key, attachment.generation)
    attachment.contact.pollTimer.set(deadline, on: clock) { [weak self] in self?.post { $0.poll(key, generation) } }
  }

  private func poll(_ key: Int, _ generation: Int) {
    guard let attachment = attachments[key], attachment.generation == generation,
      let accessory = attachment.open?.accessory
    else { return }
    attachment.contact.pollTimer.ended()
    guard let poll = attachment.readings.polls.take(now: clock.now) else { return schedulePoll(attachment) }
    run { await self.make(poll, accessory, key, generation) }
  }

  private func make(_ poll: AccessoryPoll, _ accessory: any Accessory, _ key: Int, _ generation: Int) async {
    guard let asked = attachments[key], asked.generation == generation else { return }
    asked.beginCall()
    defer { asked.endCall() }
    let answer: Result<[AccessoryNews], AccessoryError>
    do throws(AccessoryError) {
      answer = .success(try await accessory.poll(poll))
    } catch {
      answer = .failure(error)
    }
    guard let attachment = attachments[key], attachment.generation == generation else { return }
    switch answer {
    case .success(let news):
      attachment.readings.polls.ended(nil, now: clock.now)
      answered(attachment)
      alarms.heard(attachment, on: self)
      for one in news { note(polled: one, attachment) }
      note(missing: accessory.unanswered, attachment)
    case .failure(let error):
      log.debug(
        "\(attachment.name) doesn't answer the poll \(poll.name): \(SafeText.escape(error.message, limit: 300))")
      attachment.readings.polls.ended(error, now: clock.now)
      let isSilent = attachment.readings.polls.silences >= Freshness.intervals || !attachment.readings.hasAny
      if error.kind == .timedOut, isSilent { note(missing: "\(accessory.label) does not answer", attachment) }
      if attachment.readings.polls.isAsleep {
        log.info("\(attachment.name) seems to be asleep: polling resumes when it sends something")
      } else if attachment.device.unit != nil, attachment.readings.polls.silences >= Self.silencesOfUnit {
        // The line and its other units are still there. Only this unit counts as gone; it is tried with growing pauses.
        return perform(attachment.machine.ended(error, now: clock.now), on: attachment)
      } else if attachment.machine.isSilent(after: attachment.readings.polls.silences) {
        return perform(attachment.machine.ended(error, now: clock.now), on: attachment)
      }
    }
    schedulePoll(attachment)
    noteRead(attachment)
  }

  /// Polls have ended. If all that were due have, the connection may be needed for others.
  private func noteRead(_ attachment: Attachment) {
    guard attachment.readings.polls.isDone(now: clock.now) else { return }
    logMissing(attachment)
    guard attachment.contact.ticket != nil else { return }
    attachment.contact.wasRead(at: clock.now)
    let key = attachment.key
    post { service in
      // After the end of the call that this is a part of.
      if let attachment = service.attachments[key] { service.renewConnections(of: attachment) }
    }
  }

  /// After this many unanswered polls in a row a unit counts as gone.
  private static let silencesOfUnit = 2

  private func note(polled news: AccessoryNews, _ attachment: Attachment) {
    switch news {
    case .battery(let reading): note(reading, attachment, isEvent: false)
    case .status(let status): note(status, attachment, isEvent: false)
    case .values(let values): note(values, .polled, attachment)
    case .other: break
    }
  }

  /// A device that was silent is so no more.
  private func answered(_ attachment: Attachment) {
    let recoveries = attachment.machine.recoveries
    attachment.machine.proved()
    guard recoveries > 0 else { return }
    log.notice("\(attachment.name) answers again, after \(Amount.of(recoveries, "recovery"))")
  }

  /// The accessory has sent something, so it isn't asleep.
  func showedLife(_ attachment: Attachment) {
    guard attachment.readings.polls.isAsleep else { return }
    attachment.readings.polls.showedLife(now: clock.now)
    schedulePoll(attachment)
  }
}
