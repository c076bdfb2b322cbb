// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import Logging

/// Publishes the accessories of this machine's service on a broker until its task is cancelled. It is a view of the mirror.
///
/// Every message is computed from `records`, so the length of an outage doesn't matter. The latest states are published after every
/// connection to the broker and after Home Assistant has started.
package actor FleetPublisher {
  let settings: PublisherSettings
  let mqtt: MQTTClient
  let clock: any TimerClock
  let log: Logger
  let mirror: ServiceMirror
  /// What should be on the broker.
  var records = PublishedRecords()
  var broker = BrokerState()
  /// Commands from the broker, and the connection to the service for them; nil while the service is unavailable.
  var commands = CommandQueues<TopicLevel>()
  var service: BridgeClient?
  var work = PublisherWork()
  /// The numbers of accessories that the gateway last told, and when.
  var told: (counts: PublishedRecords.Counts?, time: MonotonicTime)?

  /// Tasks that the publisher runs later or repeatedly.
  struct PublisherWork: Sendable {
    var flushing, forgetting, republishing, losing, correcting, looking, pulling: Task<Void, Never>?

    func cancel() {
      for task in [flushing, forgetting, republishing, losing, correcting, looking] { task?.cancel() }
    }
  }

  var topics: FleetTopics { settings.topics }

  /// Creates a publisher on `mqtt`, whose will must be `settings.will`.
  package init(
    _ settings: PublisherSettings, mqtt: MQTTClient, clock: any TimerClock = IOThread.shared, log: Logger
  ) {
    (self.settings, self.mqtt, self.clock, self.log) = (settings, mqtt, clock, log)
    mirror = ServiceMirror([.values, .alarms, .readings, .commands, .lists, .freshness], clock: clock)
  }

  /// Publishes until the task is cancelled. Then publishes that the gateway is offline and disconnects.
  package func run() async {
    let service = ServiceMirror.Service(Self.place, sockets: settings.sockets)
    await run { mirror, hooks in await mirror.run([service], hooks) }
  }

  /// The same with a mirror that `follow` fills until its task is cancelled.
  package func run(
    following follow: @escaping @Sendable (ServiceMirror, ServiceMirror.Hooks) async -> Void
  ) async {
    let changes = await mirror.changes()
    var hooks = ServiceMirror.Hooks()
    hooks.happened = { event, _, isNews in await self.take(event, isNews: isNews, changes) }
    hooks.trouble = { [log] error in log.warning("\(error.message)") }
    let following = Task { [mirror, hooks] in await follow(mirror, hooks) }
    let viewing = Task { for await _ in changes.signals { await self.pull(changes) } }
    await mqtt.start()
    while !Task.isCancelled, let event = await mqtt.next() { await take(event) }
    following.cancel()
    viewing.cancel()
    work.cancel()
    commands.cancel()
    await mqtt.stop(after: settings.will)
  }

  /// The service's name in the mirror. The service may be at one of several sockets.
  package static let place = "service"

  // MARK: - The broker

  private func take(_ event: MQTTEvent) async {
    switch event {
    case .connected:
      log.notice("connected to the broker")
      broker.connected()
      await connected()
    case .disconnected(let error, let retry):
      work.looking?.cancel()
      work.republishing?.cancel()
      let seconds = Double(retry.inMilliseconds) / 1_000
      if broker.disconnected(error) { log.warning("\(error.message); the next try is in \(seconds) s") }
      // Other clients may have published retained messages that can't be read. Reading them again would end each new connection.
      guard error.kind == .badData, !broker.hasLooked else { return }
      log.warning(
        "the broker's retained messages of this gateway were not read: accessories that are gone may stay on the broker"
      )
      broker.looked()
      await lookIsDone()
    case .message(let message): await received(message)
    // Older services don't report when readings become stale.
    case .keepalive:
      Task { _ = await mirror.refreshed() }
      await publishInfoIfDue()
    case .subscribed(let filter): if broker.answered(filter) { settle() }
    case .refused(let topic, let error):
      if broker.refused(topic) { log.warning("\(SafeText.escape(topic, limit: 300)): \(error.message)") }
      if broker.answered(topic) { settle() }
    }
  }

  /// The time now, in seconds since 1970.
  static var now: Double { WallClock.seconds }
}
