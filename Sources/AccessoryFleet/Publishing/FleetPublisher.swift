// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import Glibc
import Logging

/// Publishes the accessories of this machine's service on a broker, until its task is cancelled.
///
/// What is to be on the broker is computed from `records`, so it doesn't matter how long the broker was away: after every
/// connect the latest states are published, and after Home Assistant has started.
package actor FleetPublisher {
  let settings: PublisherSettings
  let topics: FleetTopics
  let mqtt: MQTTClient
  let clock: any TimerClock
  let log: Logger

  /// The accessories by their levels, also those that are gone and not forgotten.
  var records: [TopicLevel: AccessoryRecord] = [:]
  /// The levels of the service's accessories, by their places.
  var levels: [String: TopicLevel] = [:]
  /// The service's connection for calls; nil while the service is away.
  var service: BridgeClient?
  var permitsCommands = false
  var raisedAlarms = RaisedAlarms()
  /// Whether all accessories of the service are known.
  var isSynchronized = false
  /// Whether the service has been away for longer than a restart takes.
  var isServiceAway = false
  /// Whether the broker has accepted this client, and whether what it has kept from earlier is known.
  var isConnected = false
  var hasLooked = false
  /// What the broker has kept for accessories, by level; while it is looked at.
  var found: [TopicLevel: FoundAccessory] = [:]
  var pendingFilters: Set<String> = []
  var dirty: [TopicLevel: Dirt] = [:]
  var flushing: Task<Void, Never>?
  var forgetting: Task<Void, Never>?
  var republishing: Task<Void, Never>?
  var losing: Task<Void, Never>?
  var correcting: Task<Void, Never>?
  var looking: Task<Void, Never>?
  private var checking: Task<Void, Never>?
  var commandLimit = RateLimit(atOnce: 20, perSecond: 5)
  var commandQueues: [TopicLevel: CommandQueue] = [:]
  var onlineLimit = RateLimit(atOnce: 3, perSecond: 0.2)
  private var loggedRefusals: Set<String> = []
  private var lastServiceError = ""
  private var lastBrokerError = ""

  /// What of an accessory is to be published.
  struct Dirt: OptionSet, Sendable {
    let rawValue: UInt8
    static let availability = Dirt(rawValue: 1)
    static let state = Dirt(rawValue: 2)
    static let values = Dirt(rawValue: 4)
    static let discovery = Dirt(rawValue: 8)
    static let all: Dirt = [.availability, .state, .values, .discovery]
  }

  /// What the broker has kept for an accessory from earlier.
  struct FoundAccessory: Sendable {
    var state: FleetState?
    var values: FleetValues?
    var isOnline = false
    var components: [String: String] = [:]
    var topics: Set<String> = []
  }

  /// The most accessories that are known at one time: our service has at most 1,024, and those that are gone.
  static let recordLimit = 4_096

  /// A publisher of `mqtt`, whose will must be `settings.will`.
  package init(
    _ settings: PublisherSettings, mqtt: MQTTClient, clock: any TimerClock = IOThread.shared, log: Logger
  ) {
    (self.settings, self.mqtt, self.clock, self.log) = (settings, mqtt, clock, log)
    topics = settings.topics
  }

  /// Publishes until the task is cancelled; then says that the gateway is offline, and leaves the broker.
  package func run() async {
    let feed = ServiceFeed(sockets: settings.sockets, clock: clock)
    await run { body in await feed.follow(body) }
  }

  /// The same, with events that `follow` passes to the function that it is given, until its task is cancelled.
  package func run(
    following follow: @escaping @Sendable (@Sendable (FeedEvent) async -> Void) async -> Void
  ) async {
    let following = Task { await follow { event in await self.take(event) } }
    await mqtt.start()
    while !Task.isCancelled, let event = await mqtt.next() { await take(event) }
    following.cancel()
    for task in [flushing, forgetting, republishing, losing, looking, correcting] { task?.cancel() }
    for queue in commandQueues.values { queue.worker.cancel() }
    await mqtt.stop(after: settings.will)
  }

  // MARK: - The service

  private func take(_ event: FeedEvent) async {
    switch event {
    case .begun(let client, let permitsCommands):
      (service, self.permitsCommands) = (client, permitsCommands)
      lastServiceError = ""
      losing?.cancel()
      (isSynchronized, isServiceAway) = (false, false)
      levels = [:]
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
      if let level = levels.removeValue(forKey: device.place) { gone(level, error) }
      tell(Bridge.Event(.disconnected, time: now, device: device, problem: Bridge.Problem(error)))
    case .battery(let device, let reading):
      let battery = Bridge.Battery(reading)
      change(device) { record in
        record.state.battery = battery
        record.state.batteryTime = now
      }
      tell(Bridge.Event(.battery, time: now, device: device, battery: battery))
    case .status(let device, let reading):
      let status = Bridge.Status(reading)
      change(device) { record in
        record.state.status = status
        record.state.statusTime = now
      }
      tell(Bridge.Event(.status, time: now, device: device, status: status))
    case .values(let device, let values):
      let measured = values.map { Bridge.MeasuredValue($0) }
      if let level = levels[device.place], var record = records[level] {
        let facts = record.facts
        if record.take(measured, at: now) { mark(level, .values) }
        if record.facts != facts { mark(level, .discovery) }
        records[level] = record
      }
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
    let present = Set(levels.values)
    let error = AccessoryError(.disconnected, "the service no longer has it")
    for level in records.keys.sorted() where !present.contains(level) { gone(level, error) }
    await lookIsDone()
  }

  /// The level of an accessory: that of its id, unless another accessory of the service has it.
  private func level(of device: Bridge.Device) -> TopicLevel {
    if let known = levels[device.place] { return known }
    let plain = TopicLevel(naming: device.id)
    return levels.values.contains(plain) ? TopicLevel(naming: device.id, at: device.place) : plain
  }

  private func attached(_ device: Bridge.Device) {
    let level = level(of: device)
    guard records[level] != nil || records.count < Self.recordLimit else { return }
    levels[device.place] = level
    let now = Self.now
    var record = records[level] ?? AccessoryRecord(level, device, connected: true, at: now)
    record.place = device.place
    (record.state.device, record.state.connected, record.state.problem) = (device, true, nil)
    record.state.time = now
    record.goneSince = nil
    if let kept = found[level] { record.take(kept) }
    records[level] = record
    mark(level, .all)
    // An accessory that is slow to answer doesn't delay the others' events.
    Task { await read(device, level) }
  }

  /// Asks the service for what events don't have: readings of now, the service's record, and the permitted commands.
  private func read(_ device: Bridge.Device, _ level: TopicLevel) async {
    guard let service else { return }
    let client = service.device(device.place, label: device.id)
    let held = (try? await service.list())?.first { $0.device.place == device.place }
    let commands = permitsCommands ? (try? await client.commands())?.commands ?? [] : []
    let status = try? await client.status()
    let battery = try? await client.battery()
    let values = try? await client.values()
    guard var record = records[level], record.state.connected, record.place == device.place else { return }
    let now = Self.now
    record.state.held = held
    // Which alarms are raised, the events say, in their order.
    record.state.alarms = held?.alarms == nil ? nil : record.state.alarms ?? []
    record.state.time = now
    if let status {
      (record.state.status, record.state.identity) = (status.status, status.identity)
      record.state.statusTime = now - Double(status.age_ms ?? 0) / 1_000
    }
    if let battery {
      record.state.battery = battery.battery
      record.state.batteryTime = now - Double(battery.age_ms ?? 0) / 1_000
    }
    record.state.stale = status?.stale ?? battery?.stale ?? held?.stale ?? false
    if let values { _ = record.take(values.values, at: now) }
    record.facts.take(record.state)
    record.facts.commands = commands
    records[level] = record
    mark(level, [.state, .values, .discovery])
  }

  /// Asks the service which readings are stale: there is no event when an accessory falls silent.
  private func checkFreshness() {
    guard let service, checking == nil else { return }
    checking = Task {
      let held = try? await service.list()
      checking = nil
      for accessory in held ?? [] {
        guard let level = levels[accessory.device.place],
          records[level]?.takeFreshness(accessory.stale == true, at: Self.now) == true
        else { continue }
        mark(level, .state)
      }
    }
  }

  private func change(_ device: Bridge.Device, _ body: (inout AccessoryRecord) -> Void) {
    guard let level = levels[device.place], var record = records[level] else { return }
    body(&record)
    record.state.time = Self.now
    mark(level, .state)
    if record.facts.take(record.state) { mark(level, .discovery) }
    records[level] = record
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
    scheduleForgetting()
  }

  private func tell(_ event: Bridge.Event) {
    // An event of an hour ago is no news: it isn't kept for a broker that is away.
    guard isConnected, let device = event.device, let event = FleetEvent(event) else { return }
    let level = levels[device.place] ?? TopicLevel(naming: device.id)
    let message = MQTTMessage(topics.event(of: level), event.bytes, qos: .atMostOnce)
    Task { [mqtt] in await mqtt.publish(message) }
  }

  // MARK: - The broker

  private func take(_ event: MQTTEvent) async {
    switch event {
    case .connected(let version):
      log.notice("connected with the broker, by MQTT \(version.rawValue)")
      lastBrokerError = ""
      loggedRefusals = []
      isConnected = true
      await connected()
    case .disconnected(let error, let retry):
      isConnected = false
      looking?.cancel()
      republishing?.cancel()
      let seconds = Double(retry.inMilliseconds) / 1_000
      if error.message != lastBrokerError { log.warning("\(error.message); the next try is in \(seconds) s") }
      lastBrokerError = error.message
    case .message(let message): await received(message)
    case .keepalive: checkFreshness()
    case .subscribed(let filter):
      pendingFilters.remove(filter)
      if pendingFilters.isEmpty, !hasLooked { settle() }
    case .refused(let topic, let error):
      // An ACL refuses each message of a topic.
      if loggedRefusals.count < 256, loggedRefusals.insert(topic).inserted {
        log.warning("\(SafeText.escape(topic, limit: 300)): \(error.message)")
      }
      pendingFilters.remove(topic)
      if pendingFilters.isEmpty, !hasLooked { settle() }
    }
  }

  /// The time now, in seconds since 1970.
  static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec / 1_000_000) / 1_000
  }
}
