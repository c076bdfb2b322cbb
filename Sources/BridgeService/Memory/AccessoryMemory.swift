// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery

/// What the service knows of accessories beyond their attachments: those that are gone, and the names that users gave. Both are kept in one
/// file. Used on the service's actor only.
final class AccessoryMemory: KeptState {
  private var absent = AbsentAccessories()
  private var names = GivenNames()
  /// What the configuration calls accessories, by their ids or serial numbers.
  private var configured: [String: GivenName]
  let kept = KeptText("known of absent accessories and of names", sizeLimit: GivenNames.sizeLimit) { $0.memory }
  private var expiry = DeadlineTimer()
  /// How long an accessory is absent before it is forgotten, in seconds; nil for ever.
  private var forgetting: Double?

  /// How long after a change the file is written: a name that somebody has typed, and an accessory that has gone. Devices may come and go
  /// all the time.
  private static let (soon, later) = (Duration.seconds(1), Duration.seconds(30))
  /// The longest time until the clock of the wall is looked at again.
  private static let longestPause = Duration.seconds(86_400)

  init(forgetAfter seconds: Double?, configured: [String: GivenName]) {
    (forgetting, self.configured) = (seconds, configured)
  }

  // MARK: - Accessories that are gone

  /// The accessories that are gone, in the order of their identities.
  func all(on service: isolated BridgeService) -> [Bridge.Accessory] { absent.all.map { shown($0, on: service) } }

  /// As it is told: with its name, with the alarms that are raised now, and with the ages of its readings.
  private func shown(_ record: Bridge.Accessory, on service: isolated BridgeService) -> Bridge.Accessory {
    var record = record
    record.device = record.device.called(name(for: record.device, on: service))
    record.alarms = service.alarms.raised(record.device.id) ?? record.alarms
    return record.aged(by: milliseconds(since: record.last_seen, on: service))
  }

  private func milliseconds(since seen: Double?, on service: isolated BridgeService) -> Int {
    seen.map { Int(min(max(0, service.wallClock - $0), 1e9) * 1_000) } ?? 0
  }

  /// An accessory has gone.
  func keep(_ attachment: Attachment, on service: isolated BridgeService) {
    let record = record(of: attachment, on: service)
    for left in absent.keep(record, isNamed: attachment.given?.name != nil) { gone(left, on: service) }
    tell(record.device, on: service)
    changed(after: Self.later, on: service)
  }

  private func record(of attachment: Attachment, on service: isolated BridgeService) -> Bridge.Accessory {
    var record = service.facts(attachment, wantsLast: true)
    record.last_seen = record.last_seen ?? service.wallClock
    // Its ages are those of the time when it was last there.
    return record.aged(by: -milliseconds(since: record.last_seen, on: service))
  }

  /// An accessory has come. Returns what was known of it when it went; nil where nothing was.
  func came(_ device: Device, on service: isolated BridgeService) -> Bridge.Accessory? {
    let same = absent.take(device)
    if same.isEmpty { return nil }
    // Those of one that had another identity before it was known that there are several.
    for record in same where record.device.id != device.id { service.alarms.forget(record.device.id, on: service) }
    changed(after: Self.later, on: service)
    return same.last
  }

  /// Forgets an accessory that is gone.
  func forget(_ id: String, on service: isolated BridgeService) {
    guard let record = absent.take(id: id) else { return }
    gone(record, on: service)
    changed(after: Self.soon, on: service)
  }

  private func gone(_ record: Bridge.Accessory, on service: isolated BridgeService) {
    service.log.info("\(SafeText.escape(record.device.id)) is forgotten")
    service.alarms.forget(record.device.id, on: service)
    tell(record.device, on: service)
  }

  private func tell(_ device: Device, on service: isolated BridgeService) {
    service.clients.events.tell(
      Bridge.Event(.changed, time: service.wallClock, device: device.called(name(for: device, on: service))))
  }

  private func changed(after pause: Duration, on service: isolated BridgeService) {
    kept.write(after: pause, on: service)
    scheduleExpiry(on: service)
  }

  // MARK: - Forgetting after a time

  /// Sets after how many seconds of absence an accessory is forgotten; nil for never.
  func use(forgetAfter seconds: Double?, on service: isolated BridgeService) {
    forgetting = seconds
    expire(on: service)
  }

  private func expire(on service: isolated BridgeService) {
    if let forgetting {
      let left = absent.take(before: service.wallClock - forgetting)
      for record in left { gone(record, on: service) }
      if !left.isEmpty { kept.write(after: Self.later, on: service) }
    }
    scheduleExpiry(on: service)
  }

  private func scheduleExpiry(on service: isolated BridgeService) {
    guard let forgetting, let earliest = absent.earliest, !service.isClosing else {
      return expiry.cancel(on: service.clock)
    }
    let rest = max(1, earliest + forgetting - service.wallClock)
    let pause = min(Duration.seconds(min(rest, 1e9)), Self.longestPause)
    expiry.set(service.clock.now + pause, on: service.clock) { [weak service] in
      service?.post { service in
        service.memory.expiry.ended()
        service.memory.expire(on: service)
      }
    }
  }

  // MARK: - Names

  /// What an accessory is called: what a user has typed goes before the configuration. Nil where nobody has said.
  func name(for device: Device, on service: isolated BridgeService) -> GivenName? {
    let (own, other) = (self.own(device, on: service), configured(for: device))
    let given = GivenName(name: own.name ?? other?.name, area: own.area ?? other?.area)
    return given.isEmpty ? nil : given
  }

  /// What a user has typed.
  func own(_ device: Device, on service: isolated BridgeService) -> GivenName {
    names[service.historyKey(for: device)] ?? GivenName()
  }

  private func configured(for device: Device) -> GivenName? {
    if configured.isEmpty { return nil }
    return configured[device.id] ?? device.serialNumber.flatMap { configured[$0 + device.unitSuffix] }
  }

  /// Replaces the names of the configuration.
  func use(_ names: [String: GivenName], on service: isolated BridgeService) {
    guard names != configured else { return }
    configured = names
    for attachment in service.attachments.ordered {
      let given = name(for: attachment.device, on: service)
      guard given != attachment.given else { continue }
      attachment.given = given
      tell(attachment.target, on: service)
    }
  }

  /// Whether an accessory has a name under this key.
  func knows(_ key: String) -> Bool { names[key] != nil }

  /// Gives an accessory that is there, or is gone, another name. Returns false where there are too many.
  func give(_ name: GivenName, to device: Device, on service: isolated BridgeService) -> Bool {
    guard names.give(name, to: service.historyKey(for: device)) else { return false }
    absent.note(device.id, isNamed: name.name != nil)
    changed(after: Self.soon, on: service)
    return true
  }

  // MARK: - The file

  /// The names, those that are gone, and at the end of the service those that are there, which may be gone when it starts again.
  func text(on service: isolated BridgeService) -> String {
    var all = absent
    for attachment in service.attachments.ordered where attachment.machine.hasBeenAttached {
      _ = all.keep(record(of: attachment, on: service), isNamed: attachment.given?.name != nil)
    }
    return ([GivenNames.head] + names.lines + all.lines).map { $0 + "\n" }.joined()
  }

  func take(_ text: String, on service: isolated BridgeService) -> Bool {
    let lines = text.split(separator: "\n")
    guard lines.first == GivenNames.head[...] else { return false }
    var records: [Bridge.Accessory] = []
    for line in lines.dropFirst() {
      guard let json = line.json else { continue }
      if json.fields?["device"] == nil {
        _ = names.take(json)
      } else if let record = try? json.decoded(as: Bridge.Accessory.self), (try? record.check()) != nil {
        records.append(record)
      }
    }
    // The disk may have been late: what is there by now isn't gone.
    for attachment in service.attachments.ordered {
      attachment.given = name(for: attachment.device, on: service)
      records.removeAll {
        $0.device.id == attachment.device.id || SameAgain($0.device).fits(attachment.device)
      }
    }
    for record in records { _ = absent.keep(record, isNamed: name(for: record.device, on: service)?.name != nil) }
    expire(on: service)
    return true
  }

  /// Writes what is known when the service ends, before it lets go of the accessories.
  func end(on service: isolated BridgeService) {
    expiry.cancel(on: service.clock)
    kept.end(on: service)
  }
}
