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
  var levels = AccessoryLevels()
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
  /// Whether the broker has sent back what this gateway had it keep.
  var seesWhatIsKept = false
  var pendingFilters: Set<String> = []
  var dirty: [TopicLevel: Dirt] = [:]
  var flushing: Task<Void, Never>?
  var forgetting: Task<Void, Never>?
  var republishing: Task<Void, Never>?
  var losing: Task<Void, Never>?
  var correcting: Task<Void, Never>?
  var looking: Task<Void, Never>?
  var checking: Task<Void, Never>?
  /// The accessories about which the service is to be asked, the task that does so, and when it may ask for all records again.
  var unread: Set<TopicLevel> = []
  var reading: Task<Void, Never>?
  var lastList = MonotonicTime.now
  var listPause: Duration?
  var commandLimit = RateLimit(atOnce: 20, perSecond: 5)
  var commandQueues: [TopicLevel: CommandQueue] = [:]
  var onlineLimit = RateLimit(atOnce: 3, perSecond: 0.2)
  var loggedRefusals: Set<String> = []
  var lastServiceError = ""
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

  /// The most accessories that are known at one time: those of a service, and as many that are gone.
  static let recordLimit = 2 * ReplyLimits.devices

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
    for task in [flushing, forgetting, republishing, losing, looking, correcting, reading] { task?.cancel() }
    for queue in commandQueues.values { queue.worker.cancel() }
    await mqtt.stop(after: settings.will)
  }

  // MARK: - The broker

  private func take(_ event: MQTTEvent) async {
    switch event {
    case .connected:
      log.notice("connected with the broker")
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
      // What the broker has kept can't be read, and would end each connection: others may have put it there.
      guard error.kind == .badData, !hasLooked else { return }
      log.warning("what the broker has kept for this gateway isn't looked at: accessories of earlier may stay there")
      hasLooked = true
      await lookIsDone()
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
