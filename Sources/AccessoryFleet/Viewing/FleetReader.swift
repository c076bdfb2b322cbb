// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import DequeModule

/// Reads a fleet from a broker: first the retained messages, then changes.
///
/// MQTT doesn't tell when a broker has sent all retained messages. So the reader waits until the broker has confirmed every
/// subscription and then until no message arrives for a while; the faster the broker answers, the shorter that time. It subscribes
/// gateway by gateway, a few at a time, because brokers drop messages for a client with too many waiting.
package actor FleetReader: IOActor {
  package nonisolated let io: IOThread
  private let client: MQTTClient
  private let broker: BrokerAddress
  private var store: FleetStore
  private var scope: FleetScope
  private var pump: Task<Void, Never>?

  // State of the current connection's subscriptions.
  private var isConnected = false
  private var waiting: Deque<String> = []
  private var unconfirmed: Set<String> = []
  private var subscribed: Set<String> = []

  // State of loading.
  private var loader: CheckedContinuation<Result<Bool, AccessoryError>, Never>?
  private var quietTimer, limitTimer, renewalTimer: TimerToken?
  private var lastNews = MonotonicTime.now
  private var firstAsked: MonotonicTime?
  private var quiet = FleetReader.shortestQuiet
  private var waitsForQuiet = true

  // State of following.
  private var isFollowed = false
  private var waitingNews: Deque<FleetNews> = []
  private var waitingChanges: Set<FleetChange> = []
  private var follower: CheckedContinuation<FleetNews?, Never>?
  private var room: CheckedContinuation<Void, Never>?
  private var isClosed = false

  /// The most unconfirmed subscriptions.
  private static let unconfirmedLimit = 32
  /// The most events and replies that wait for the follower; at this limit the reader stops taking messages. Changes don't count:
  /// each waits only once, and the size of the store limits their number.
  private static let newsLimit = 256
  /// Quiet time that ends loading: shortest and longest.
  private static let shortestQuiet = Duration.milliseconds(200)
  private static let longestQuiet = Duration.seconds(2)
  /// How long a gateway has to publish again after a reconnect, in case the broker has lost its retained messages.
  static let renewalTime = Duration.seconds(20)

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Creates a reader. It connects when it loads.
  package init(
    _ settings: MQTTSettings, limits: FleetStore.Limits = FleetStore.Limits(), io: IOThread = .shared
  ) {
    self.io = io
    client = MQTTClient(settings, io: io)
    broker = settings.broker
    store = FleetStore(limits)
    scope = FleetScope([])
  }

  // MARK: - For the owner

  /// Loads the broker's messages in `scope`, in addition to those loaded before. Connects if necessary. Returns whether it is
  /// complete: false if `limit` has passed and the broker still sends. Throws the error of connecting or subscribing, and `timedOut`
  /// if there is no connection within `limit`.
  package func load(_ scope: FleetScope, within limit: Duration) async throws(AccessoryError) -> Bool {
    self.scope = scope
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        loader = continuation
        limitTimer = io.schedule(at: io.now + limit) { [weak self] in self?.enter { $0.limitReached() } }
        if Task.isCancelled { return finish(.failure(.interrupted)) }
        begin()
      }
    } onCancel: {
      io.post { [weak self] in self?.enter { $0.finish(.failure(.interrupted)) } }
    }
    return try result.get()
  }

  /// The messages loaded so far.
  package var fleet: FleetStore { store }

  /// Starts to collect changes for `next`. Earlier changes are only in `fleet`, so call this between `load` and `fleet`.
  package func follow() { isFollowed = true }

  /// The next change; nil after `close`, or when the task is cancelled.
  package func next() async -> FleetNews? {
    if let news = waitingNews.popFirst() {
      if case .change(let change) = news { waitingChanges.remove(change) }
      room?.resume()
      room = nil
      return news
    }
    if isClosed { return nil }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume(returning: nil) }
        follower = continuation
      }
    } onCancel: {
      io.post { [weak self] in self?.enter { $0.endFollower() } }
    }
  }

  /// Publishes a message. Returns false if too many are waiting.
  package func publish(_ message: MQTTMessage) async -> Bool { await client.publish(message) }

  /// Subscribes to a topic whose messages `next` returns, and waits until the broker has confirmed it. Throws as `load` does.
  package func subscribe(_ topic: String, within limit: Duration) async throws(AccessoryError) {
    add(topic)
    waitsForQuiet = false
    defer { waitsForQuiet = true }
    guard try await load(scope, within: limit) else {
      throw AccessoryError(.timedOut, "the broker \(broker) did not answer in time")
    }
  }

  /// Disconnects from the broker.
  package func close() async {
    isClosed = true
    cancelTimers()
    endRenewalTimer()
    endFollower()
    room?.resume()
    room = nil
    await client.stop()
    pump?.cancel()
  }

  private func endFollower() {
    follower?.resume(returning: nil)
    follower = nil
  }

  // MARK: - Loading

  private func begin() {
    lastNews = io.now
    guard pump == nil else {
      // Subscribe for the gateways that are already known, and for those that are still missing.
      for gateway in store.gateways.keys { addFilters(gateway) }
      addNamed()
      advance()
      return checkQuiet()
    }
    pump = Task { [client] in
      await client.start()
      while let event = await client.next() { await self.take(event) }
    }
  }

  private func limitReached() {
    limitTimer = nil
    guard !isConnected else { return finish(.success(false)) }
    finish(.failure(AccessoryError(.timedOut, "the broker \(broker) did not answer in time")))
  }

  private func finish(_ result: Result<Bool, AccessoryError>) {
    cancelTimers()
    loader?.resume(returning: result)
    loader = nil
  }

  private func cancelTimers() {
    for timer in [quietTimer, limitTimer] { if let timer { io.cancel(timer) } }
    (quietTimer, limitTimer) = (nil, nil)
  }

  /// Ends loading if nothing has arrived for long enough, or waits for the rest of that time.
  private func checkQuiet() {
    guard loader != nil, quietTimer == nil, isConnected, waiting.isEmpty, unconfirmed.isEmpty else { return }
    guard waitsForQuiet, io.now < lastNews + quiet else { return finish(.success(true)) }
    quietTimer = io.schedule(at: lastNews + quiet) { [weak self] in
      self?.enter { reader in
        reader.quietTimer = nil
        reader.checkQuiet()
      }
    }
  }

  // MARK: - A broker that was away

  /// After a broker without persistence has restarted, only the gateways that publish again exist.
  private func renew() {
    guard !store.gateways.isEmpty || !store.entries.isEmpty else { return }
    store.renew()
    endRenewalTimer()
    renewalTimer = io.schedule(at: io.now + Self.renewalTime) { [weak self] in self?.enter { $0.endRenewal() } }
  }

  private func endRenewal() {
    renewalTimer = nil
    for change in store.endRenewal() { tell(.change(change)) }
  }

  private func endRenewalTimer() {
    if let renewalTimer { io.cancel(renewalTimer) }
    renewalTimer = nil
  }

  // MARK: - Subscriptions

  private func addFilters(_ gateway: TopicLevel) {
    guard scope.includes(gateway) else { return }
    scope.filters(gateway).forEach(add)
  }

  private func addNamed() {
    for gateway in scope.named {
      add(FleetTopics(gateway).availability)
      addFilters(gateway)
    }
  }

  private func add(_ filter: String) {
    if subscribed.insert(filter).inserted { waiting.append(filter) }
  }

  private func advance() {
    while isConnected, unconfirmed.count < Self.unconfirmedLimit, let filter = waiting.popFirst() {
      unconfirmed.insert(filter)
      firstAsked = firstAsked ?? io.now
      Task { [client] in await client.subscribe(filter, qos: .atMostOnce) }
    }
  }

  // MARK: - Events of the client

  private func take(_ event: MQTTEvent) async {
    if case .keepalive = event { return }
    lastNews = io.now
    switch event {
    case .connected:
      let topics = subscribed
      isConnected = true
      (subscribed, waiting, unconfirmed) = ([], [], [])
      renew()
      add(FleetTopics.Filter.gateways(.availability))
      topics.sorted().forEach(add)
      addNamed()
      tell(.connected)
    case .disconnected(let error, let retry):
      isConnected = false
      endRenewalTimer()
      if loader != nil { return finish(.failure(error)) }
      tell(.disconnected(error, retry: retry))
    case .subscribed(let filter):
      unconfirmed.remove(filter)
      if let firstAsked, isConnected, filter == FleetTopics.Filter.gateways(.availability) {
        quiet = min(Self.longestQuiet, max(Self.shortestQuiet, (io.now - firstAsked) * 3))
      }
    case .refused(let topic, let error):
      unconfirmed.remove(topic)
      if loader != nil { return finish(.failure(error)) }
      tell(.refused(error))
    case .message(let message): take(message)
    case .keepalive: break
    }
    advance()
    checkQuiet()
    if waitingNews.count - waitingChanges.count >= Self.newsLimit, !isClosed {
      await withCheckedContinuation { room = $0 }
    }
  }

  private func take(_ message: MQTTMessage) {
    guard let topic = FleetTopic(message.topic) else { return }
    switch topic {
    case .command(_, _, _, .result): tell(.result(topic: message.topic, message.payload))
    case .command(_, _, _, .set), .gateway(_, .info): break
    case .accessory(let gateway, let accessory, .event):
      tell(.event(FleetStore.Key(gateway, accessory), message.payload))
    case .gateway, .accessory:
      guard let change = store.take(topic, message.payload) else { return }
      if case .gateway(let gateway, _) = change { addFilters(gateway) }
      tell(.change(change))
    }
  }

  private func tell(_ news: FleetNews) {
    guard isFollowed, !isClosed else { return }
    if let follower {
      self.follower = nil
      follower.resume(returning: news)
      return
    }
    if case .change(let change) = news, !waitingChanges.insert(change).inserted { return }
    waitingNews.append(news)
  }
}

/// News for a reader that follows a fleet.
package enum FleetNews: Sendable {
  /// Something in `fleet` has changed.
  case change(FleetChange)
  /// An event of an accessory: the message is a `FleetEvent`.
  case event(FleetStore.Key, [UInt8])
  /// A reply to a command: the message is a `FleetResult`.
  case result(topic: String, [UInt8])
  /// The broker is connected again.
  case connected
  /// The broker is disconnected. The next attempt starts after `retry`.
  case disconnected(AccessoryError, retry: Duration)
  /// The broker has refused a subscription or a message.
  case refused(AccessoryError)
}

extension AccessoryError {
  fileprivate static let interrupted = AccessoryError(.cancelled, "interrupted")
}
