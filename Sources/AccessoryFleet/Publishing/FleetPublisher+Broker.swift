// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

// What the publisher sends to the broker and reads from it.

extension FleetPublisher {
  /// How long to wait for retained messages after the broker has accepted the subscriptions.
  private static let settling = Duration.milliseconds(500)
  /// How long to collect changes of one accessory before publishing them.
  static let collecting = Duration.milliseconds(100)
  /// After how long the gateway says again that it is there.
  private static let contact = Duration.seconds(300)
  /// The messages of the next accessory are made only while fewer than this many wait for the broker.
  private static let waitingLimit = 512

  /// After every connect.
  func connected() async {
    await mqtt.publish(MQTTMessage(topics.availability, Array(FleetTopics.online.utf8), isRetained: true))
    await publishInfo()
    if let prefix = settings.discoveryPrefix {
      await announceGateway(prefix)
      await mqtt.subscribe(DiscoveryMessage.birthTopic(prefix: prefix))
    }
    // The will of an old connection may arrive after we have published "online".
    await mqtt.subscribe(topics.availability)
    // Read the retained messages only once. Afterwards this process knows what is there.
    if !broker.hasLooked {
      records.beginLooking()
      broker.look(for: lookFilters)
      for filter in lookFilters { await mqtt.subscribe(filter) }
    } else {
      records.markAll()
      flushSoon()
    }
    // Read the topics of all commands: a command that isn't permitted is answered with an error.
    await mqtt.subscribe(topics.allCommands)
  }

  /// Publishes what the gateway tells of itself.
  private func publishInfo() async {
    told = (records.counts, clock.now)
    await mqtt.publish(MQTTMessage(topics.info, info.bytes, isRetained: true))
  }

  /// The same if the number of accessories has changed, or if it was said long ago.
  func publishInfoIfDue() async {
    guard broker.isConnected, broker.hasLooked, let (counts, time) = told else { return }
    if counts != records.counts || clock.now - time >= Self.contact { await publishInfo() }
  }

  private var info: GatewayInfo {
    let counts = records.counts
    return GatewayInfo(
      settings.gateway, host: settings.host, version: settings.version, accessories: counts?.known,
      attached: counts?.attached, at: Self.now)
  }

  private func announceGateway(_ prefix: String) async {
    let message = DiscoveryMessage(gateway: info, prefix: prefix)
    await mqtt.publish(MQTTMessage(message.topic, message.bytes(), isRetained: true))
  }

  private var lookFilters: [String] {
    let parts: [FleetTopic.AccessoryPart] = [.availability, .state, .values]
    return [topics.ofItself] + parts.map { FleetTopics.Filter.accessories($0, of: settings.gateway) }
      + (settings.discoveryPrefix.map { [DiscoveryTopic.filter($0, settings.gateway)] } ?? [])
  }

  /// Soon after the broker has accepted the last subscription, its retained messages have arrived.
  func settle() {
    work.looking?.cancel()
    work.looking = Task { [clock] in
      await clock.sleep(for: Self.settling)
      guard !Task.isCancelled else { return }
      broker.looked()
      if broker.hides(topics.ofItself) {
        log.warning(
          """
          The broker doesn't give this gateway its own retained messages for a subscription with wildcards. RabbitMQ never does. Home \
          Assistant and bridge-fleet list then find only what is published while they run; bridge-fleet battery GATEWAY:ID works. \
          If it is another broker, its ACL must let the gateway read \(FleetTopics.root)/\(settings.gateway)/#.
          """)
      }
      for filter in lookFilters { await mqtt.unsubscribe(filter) }
      await lookIsDone()
    }
  }

  /// Compares the broker's retained messages with the service's accessories once both are known or the service is unavailable.
  func lookIsDone() async {
    // Accessories that are already known don't wait for the others.
    guard broker.hasLooked else {
      records.markAll()
      return
    }
    for (level, topics) in records.compare(at: Self.now) { await remove(level, topics) }
    await publishInfoIfDue()
    flushSoon()
    // The retained accessories may have been disconnected earlier than the known ones.
    work.forgetting?.cancel()
    work.forgetting = nil
    scheduleForgetting()
  }

  /// Handles a message of the broker. Its content isn't trusted.
  func received(_ message: MQTTMessage) async {
    if let prefix = settings.discoveryPrefix, message.topic == DiscoveryMessage.birthTopic(prefix: prefix) {
      // Ignore a retained one: it is older than this connection, and everything is published after connecting anyway.
      if !message.isRetained, message.payload.elementsEqual(FleetTopics.online.utf8) { homeAssistantStarted() }
      return
    }
    if message.topic == topics.availability {
      if message.payload.elementsEqual(FleetTopics.offline.utf8) { sayOnline() }
      return
    }
    if let prefix = settings.discoveryPrefix,
      let level = DiscoveryTopic.accessory(message.topic, prefix, settings.gateway)
    {
      guard message.isRetained, !message.payload.isEmpty else { return }
      note(level, message) { $0.components = DiscoveryTopic.components(message.payload) }
      return
    }
    switch FleetTopic(message.topic) {
    case .gateway(settings.gateway, .info)?: broker.sawOwn(isRetained: message.isRetained)
    case .accessory(settings.gateway, let level, let part)?:
      // A message that isn't retained is our own, sent back by the broker.
      guard message.isRetained, !message.payload.isEmpty else { return }
      note(level, message) { found in
        switch part {
        case .availability: found.isOnline = message.payload.elementsEqual(FleetTopics.online.utf8)
        case .state: found.state = try? FleetState(message.payload)
        case .values: found.values = try? FleetValues(message.payload)
        case .event: break
        }
      }
    case .command(settings.gateway, let level, let name, .set)?: await command(name, for: level, message)
    default: break
    }
  }

  /// Another client has published that this gateway is offline: the will of an old connection, or another publisher with the same
  /// name. The rate is limited so that two publishers don't answer each other forever.
  private func sayOnline() {
    guard work.correcting == nil else { return }
    work.correcting = Task { [clock] in
      if !broker.onlineLimit.admit(now: clock.now) { await clock.sleep(for: .seconds(5)) }
      work.correcting = nil
      guard !Task.isCancelled, broker.isConnected else { return }
      await mqtt.publish(MQTTMessage(topics.availability, Array(FleetTopics.online.utf8), isRetained: true))
    }
  }

  private func note(_ level: TopicLevel, _ message: MQTTMessage, _ body: (inout AccessoryRecord.Found) -> Void) {
    if !broker.hasLooked { records.note(message.topic, of: level, body) }
  }

  /// When Home Assistant restarts, it forgets messages that aren't retained. All gateways notice at once, so each waits a random
  /// time.
  private func homeAssistantStarted() {
    guard work.republishing == nil || work.republishing?.isCancelled == true else { return }
    work.republishing = Task { [clock] in
      await clock.sleep(for: .seconds(.random(in: 0...5)))
      work.republishing = nil
      guard !Task.isCancelled, broker.isConnected else { return }
      log.info("Home Assistant has started: everything is published again")
      await mqtt.publish(MQTTMessage(topics.availability, Array(FleetTopics.online.utf8), isRetained: true))
      await publishInfo()
      if let prefix = settings.discoveryPrefix { await announceGateway(prefix) }
      records.markAll()
      flushSoon()
    }
  }

  // MARK: - Publishing

  /// Publishes the marked parts soon.
  func flushSoon() {
    guard broker.isConnected, broker.hasLooked, work.flushing == nil, records.isDirty else { return }
    work.flushing = Task { [clock] in
      await clock.sleep(for: Self.collecting)
      if !Task.isCancelled { await flush() }
      work.flushing = nil
      if !Task.isCancelled { flushSoon() }
    }
  }

  private func flush() async {
    guard broker.isConnected, broker.hasLooked else { return }
    await publishInfoIfDue()
    // Make only as many messages as the broker accepts. The others are made later with the latest state, so memory stays bounded.
    for level in records.dirtyLevels {
      guard await mqtt.waiting < Self.waitingLimit else { break }
      guard let (what, record) = records.takeDirt(of: level) else { continue }
      var messages: [MQTTMessage] = []
      if what.contains(.discovery), let prefix = settings.discoveryPrefix {
        let message = DiscoveryMessage(record.facts, level, of: topics, version: settings.version, prefix: prefix)
        messages.append(
          MQTTMessage(message.topic, message.bytes(replacing: record.components), isRetained: true))
        records.note(components: message.components, of: level)
      }
      if what.contains(.state) { messages.append(record.stateMessage(topics, isRetained: settings.retainsStates)) }
      if what.contains(.values) {
        record.valuesMessage(topics, isRetained: settings.retainsStates, at: Self.now).map { messages.append($0) }
      }
      // Publish it after the state. Otherwise a reader could see a reconnected accessory with its old state.
      if what.contains(.availability) { messages.append(record.availability(topics)) }
      for message in messages {
        if await !mqtt.publish(message) {
          log.warning("\(message.topic) was dropped: too many messages wait for the broker")
        }
      }
    }
  }

  // MARK: - Forgetting

  /// Removes accessories that have been disconnected for too long, and repeats when the next one is due.
  func scheduleForgetting() {
    // While the service is unavailable, nobody knows which accessories exist. An accessory that disconnects now is due after those
    // that are already disconnected.
    guard records.isSynchronized, work.forgetting == nil, let next = records.firstGone else { return }
    let limit = settings.forgetAfter / .seconds(1)
    work.forgetting = Task { [clock] in
      await clock.sleep(for: .seconds(min(max(next + limit - Self.now, 0), 30 * 86_400)))
      guard !Task.isCancelled else { return }
      work.forgetting = nil
      guard records.isSynchronized else { return }
      for level in records.forget(after: limit, at: Self.now) {
        log.notice("\(level) has been disconnected for too long: it is removed from the broker")
        await remove(
          level, Set(AccessoryRecord.keptTopics(level, topics, discoveryPrefix: settings.discoveryPrefix)))
      }
      scheduleForgetting()
    }
  }

  /// Deletes the retained messages by publishing empty ones. Discovery comes first, so that Home Assistant removes the device instead
  /// of showing it as unavailable.
  private func remove(_ level: TopicLevel, _ kept: Set<String>) async {
    let discovery = settings.discoveryPrefix.map { DiscoveryTopic.topic($0, settings.gateway, level) }
    for topic in kept.sorted(by: { ($0 != discovery ? 1 : 0, $0) < ($1 != discovery ? 1 : 0, $1) }) {
      await mqtt.publish(MQTTMessage(topic, [], isRetained: true))
    }
  }
}
