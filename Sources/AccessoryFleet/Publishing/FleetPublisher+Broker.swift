// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

// What the publisher says to the broker, and what it finds there.

extension FleetPublisher {
  /// How long the broker has, after it has accepted the subscriptions, to send what it has kept.
  private static let settling = Duration.milliseconds(500)
  /// How long messages of one accessory are collected.
  static let collecting = Duration.milliseconds(100)
  /// The most messages that wait for the broker before the next accessory's are made.
  private static let waitingLimit = 512

  /// After every connect.
  func connected() async {
    await mqtt.publish(MQTTMessage(topics.availability, Array(FleetTopics.online.utf8), isRetained: true))
    let info = GatewayInfo(settings.gateway, host: settings.host, version: settings.version, at: Self.now)
    await mqtt.publish(MQTTMessage(topics.info, info.bytes, isRetained: true))
    if let prefix = settings.discoveryPrefix {
      let message = DiscoveryMessage(gateway: info, prefix: prefix)
      await mqtt.publish(MQTTMessage(message.topic, message.bytes(), isRetained: true))
      await mqtt.subscribe(DiscoveryMessage.birthTopic(prefix: prefix))
    }
    // An old connection's will may come after our own word.
    await mqtt.subscribe(topics.availability)
    // What the broker has kept is looked at once; afterwards this process knows what is there.
    if !broker.hasLooked {
      records.beginLooking()
      broker.look(for: lookFilters)
      for filter in lookFilters { await mqtt.subscribe(filter) }
    } else {
      records.markAll()
      flushSoon()
    }
    // Also a command that isn't permitted is answered, so all are read.
    await mqtt.subscribe(topics.allCommands)
  }

  private var lookFilters: [String] {
    let parts: [FleetTopic.AccessoryPart] = [.availability, .state, .values]
    return [topics.ofItself] + parts.map { FleetTopics.Filter.accessories($0, of: settings.gateway) }
      + (settings.discoveryPrefix.map { [DiscoveryTopic.filter($0, settings.gateway)] } ?? [])
  }

  /// Soon after the last subscription was accepted, what the broker has kept has arrived.
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

  /// Compares what the broker has kept with the service's accessories, when both are known, or when the service is away.
  func lookIsDone() async {
    // Those that are known already needn't wait for the others.
    guard broker.hasLooked else {
      records.markAll()
      return
    }
    for (level, topics) in records.compare(at: Self.now) { await remove(level, topics) }
    flushSoon()
    // Those that were found may have gone before the others.
    work.forgetting?.cancel()
    work.forgetting = nil
    scheduleForgetting()
  }

  /// A message of the broker. Everything in it may be made up.
  func received(_ message: MQTTMessage) async {
    if let prefix = settings.discoveryPrefix, message.topic == DiscoveryMessage.birthTopic(prefix: prefix) {
      // A kept one is from before this connection, and everything is published after a connect anyway.
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
      // One that isn't kept is our own: the broker sends it back.
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

  /// Somebody else has said that this gateway is offline: an old connection's will, or another publisher of its name. Two of
  /// these must not answer each other without end.
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

  /// Home Assistant forgets what isn't kept when it restarts. All gateways hear of it at once, so each waits a little.
  private func homeAssistantStarted() {
    guard work.republishing == nil || work.republishing?.isCancelled == true else { return }
    work.republishing = Task { [clock] in
      await clock.sleep(for: .seconds(.random(in: 0...5)))
      work.republishing = nil
      guard !Task.isCancelled, broker.isConnected else { return }
      log.info("Home Assistant has started: everything is published again")
      let info = GatewayInfo(settings.gateway, host: settings.host, version: settings.version, at: Self.now)
      await mqtt.publish(MQTTMessage(topics.availability, Array(FleetTopics.online.utf8), isRetained: true))
      if let prefix = settings.discoveryPrefix {
        let message = DiscoveryMessage(gateway: info, prefix: prefix)
        await mqtt.publish(MQTTMessage(message.topic, message.bytes(), isRetained: true))
      }
      records.markAll()
      flushSoon()
    }
  }

  // MARK: - Publishing

  /// What has been marked is published soon.
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
    // Only as much is taken out as the broker takes: the latest is published anyway, and the memory is bounded.
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
      // After the state, so that nobody reads an old one of an accessory that is there again.
      if what.contains(.availability) { messages.append(record.availability(topics)) }
      for message in messages {
        if await !mqtt.publish(message) {
          log.warning("\(message.topic) was dropped: too many messages wait for the broker")
        }
      }
    }
  }

  // MARK: - Forgetting

  /// Removes those that have been gone for long, and does so again when the next one is due.
  func scheduleForgetting() {
    // While the service is away, nobody knows which are there. Whoever goes now is due after those that went before.
    guard records.isSynchronized, work.forgetting == nil, let next = records.firstGone else { return }
    let limit = settings.forgetAfter / .seconds(1)
    work.forgetting = Task { [clock] in
      await clock.sleep(for: .seconds(min(max(next + limit - Self.now, 0), 30 * 86_400)))
      guard !Task.isCancelled else { return }
      work.forgetting = nil
      guard records.isSynchronized else { return }
      for level in records.forget(after: limit, at: Self.now) {
        log.notice("\(level) has been gone for long: it is removed from the broker")
        await remove(
          level, Set(AccessoryRecord.keptTopics(level, topics, discoveryPrefix: settings.discoveryPrefix)))
      }
      scheduleForgetting()
    }
  }

  /// An empty message takes the place of what the broker has kept. The discovery goes first, so that Home Assistant removes the
  /// device instead of showing it as unavailable.
  private func remove(_ level: TopicLevel, _ kept: Set<String>) async {
    let discovery = settings.discoveryPrefix.map { DiscoveryTopic.topic($0, settings.gateway, level) }
    for topic in kept.sorted(by: { ($0 != discovery ? 1 : 0, $0) < ($1 != discovery ? 1 : 0, $1) }) {
      await mqtt.publish(MQTTMessage(topic, [], isRetained: true))
    }
  }
}
