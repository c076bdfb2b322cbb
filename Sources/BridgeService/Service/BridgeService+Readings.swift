// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Readings of attached accessories.

extension BridgeService {
  func attached(_ attachment: Attachment) {
    guard let open = attachment.open else { return }
    let how = open.accessory == nil ? " without a driver: only its bytes can be used" : ""
    log.notice("\(attachment.name) is attached at \(SafeText.escape(attachment.target.address.description))\(how)")
    let (key, generation) = (attachment.key, attachment.generation)
    attachment.contact.listening = open.follow { news in
      await self.heard(key, generation, news)
    } ended: { error in
      await self.ended(key, generation, error)
    }
    if !attachment.contact.isTold { tell(.connected, attachment) }
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
      note(status, attachment, isEvent: false)
    }
    if present() != nil, let battery = try? await accessory.battery(), let attachment = present() {
      note(battery, attachment, isEvent: false)
    }
    if let missing = accessory.missing { log.notice("\(asked.name): \(missing)") }
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
          "\(attachment.name) was not used for \(Self.text(limit)) and is closed until it is needed (idle_close)")
        service.perform(attachment.machine.rest(), on: attachment)
      }
    }
  }
}
