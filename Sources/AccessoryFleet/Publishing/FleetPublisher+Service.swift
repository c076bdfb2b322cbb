// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

// What the service reports becomes records, and what of them is to be published.

extension FleetPublisher {
  func take(_ event: FeedEvent) async {
    switch event {
    case .begun(let client, let permitsCommands):
      (service, self.permitsCommands) = (client, permitsCommands)
      lastServiceError = ""
      losing?.cancel()
      (isSynchronized, isServiceAway) = (false, false)
      levels = AccessoryLevels()
      raisedAlarms.begin()
      log.notice("following the service at \(client.socketPath)")
    case .ended(let error):
      if error.message != lastServiceError { log.warning("\(error.message)") }
      lastServiceError = error.message
      service?.close()
      service = nil
      serviceLost(error)
    case .event(let event): await take(event)
    }
  }

  /// How long the service may be away, as while it is restarted, before its accessories are offline.
  private static let grace = Duration.seconds(3)

  private func serviceLost(_ error: AccessoryError) {
    isSynchronized = false
    guard losing == nil || losing?.isCancelled == true else { return }
    losing = Task { [clock] in
      await clock.sleep(for: Self.grace)
      guard !Task.isCancelled else { return }
      isServiceAway = true
      for level in records.keys.sorted() { gone(level, error) }
      // Nobody knows those that the broker has kept.
      await lookIsDone()
    }
  }

  private func take(_ event: BridgeEvent) async {
    let now = Self.now
    switch event {
    case .ready: await synchronize()
    case .present(let device): attached(device)
    case .connected(let device):
      attached(device)
      tell(Bridge.Event(.connected, time: now, device: device))
    case .disconnected(let device, let error):
      if let level = levels.remove(device.place) {
        gone(level, error)
        scheduleForgetting()
      }
      tell(Bridge.Event(.disconnected, time: now, device: device, problem: Bridge.Problem(error)))
    case .battery(let device, let reading):
      let battery = Bridge.Battery(reading)
      let isNew = change(device) { record in
        defer { (record.state.battery, record.state.batteryTime) = (battery, now) }
        return record.state.battery != battery
      }
      if isNew { tell(Bridge.Event(.battery, time: now, device: device, battery: battery)) }
    case .status(let device, let reading):
      let status = Bridge.Status(reading)
      let isNew = change(device) { record in
        defer { (record.state.status, record.state.statusTime) = (status, now) }
        return record.state.status != status
      }
      if isNew { tell(Bridge.Event(.status, time: now, device: device, status: status)) }
    case .values(let device, let values):
      let measured = values.map { Read($0) }
      guard let level = levels[device.place], var record = records[level] else { return }
      let facts = record.facts
      let isNew = record.take(measured, at: now)
      records[level] = record
      if record.facts != facts { mark(level, .discovery) }
      guard isNew else { return }
      mark(level, .values)
      tell(Bridge.Event(.values, time: now, device: device, values: measured))
    case .requestFailed(let device, let error):
      tell(Bridge.Event(.requestFailed, time: now, device: device, problem: Bridge.Problem(error)))
    case .alarm(let device, let alarm, let state): take(alarm, state, of: device, at: now)
    }
  }

  /// An alarm was raised or cleared, or was raised before this process knew the service. Also an accessory that is away can
  /// have one: it is silent.
  private func take(_ alarm: Bridge.Alarm, _ state: Bridge.AlarmState, of device: Bridge.Device, at now: Double) {
    let level = levels[device.place] ?? TopicLevel(naming: device.id)
    guard isSynchronized else { return raisedAlarms.note(level, alarm) }
    if var record = records[level] {
      record.state.alarms = RaisedAlarms.alarms(record.state.alarms ?? [], alarm, state)
      record.state.time = now
      if record.facts.take(record.state) { mark(level, .discovery) }
      records[level] = record
      mark(level, .state)
    }
    tell(Bridge.Event(.alarm, time: now, device: device, alarm: alarm, state: state))
  }

  /// The alarms that the service has reported are all that there are.
  private func takeRaisedAlarms() {
    for (level, record) in records {
      var record = record
      let alarms = raisedAlarms.alarms(of: level)
      // Nil stays nil where there is nothing: the service may be too old for alarms.
      guard (record.state.alarms ?? []) != alarms else { continue }
      record.state.alarms = alarms
      if record.facts.take(record.state) { mark(level, .discovery) }
      records[level] = record
      mark(level, .state)
    }
  }

  /// All accessories of the service are known: the others are gone.
  private func synchronize() async {
    isSynchronized = true
    takeRaisedAlarms()
    let present = levels.taken
    let error = AccessoryError(.disconnected, "the service no longer has it")
    for level in records.keys.sorted() where !present.contains(level) { gone(level, error) }
    scheduleForgetting()
    await lookIsDone()
  }

  private func attached(_ device: Bridge.Device) {
    let level = levels.level(of: device)
    guard records[level] != nil || records.count < Self.recordLimit else { return }
    levels.add(device)
    let now = Self.now
    var record = records[level] ?? AccessoryRecord(level, device, connected: true, at: now)
    record.place = device.place
    (record.state.device, record.state.connected, record.state.problem) = (device, true, nil)
    record.state.time = now
    record.goneSince = nil
    if let kept = found[level] { record.take(kept) }
    records[level] = record
    // What Home Assistant is told depends on the readings.
    mark(level, [.availability, .state])
    readSoon(level)
  }

  /// Changes a record. `body` returns whether there is something new in it; if not, only its times are, and nothing is published. Returns
  /// the same.
  private func change(_ device: Bridge.Device, _ body: (inout AccessoryRecord) -> Bool) -> Bool {
    guard let level = levels[device.place], var record = records[level] else { return false }
    let isNew = body(&record)
    if isNew {
      record.state.time = Self.now
      mark(level, .state)
      if record.facts.take(record.state) { mark(level, .discovery) }
    }
    records[level] = record
    return isNew
  }

  private func gone(_ level: TopicLevel, _ error: AccessoryError) {
    guard var record = records[level], record.state.connected else { return }
    let now = Self.now
    (record.state.connected, record.state.time) = (false, now)
    record.state.problem = FleetProblem(error)
    record.state.held = nil
    record.goneSince = now
    records[level] = record
    mark(level, [.availability, .state])
  }

  private func tell(_ event: Bridge.Event) {
    // An event of an hour ago is no news: it isn't kept for a broker that is away.
    guard isConnected, let device = event.device, let event = FleetEvent(event) else { return }
    let level = levels[device.place] ?? TopicLevel(naming: device.id)
    let message = MQTTMessage(topics.event(of: level), event.bytes, qos: .atMostOnce)
    Task { [mqtt] in await mqtt.publish(message) }
  }
}
