// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import DequeModule

/// Reads a fleet from a broker: first what the broker has kept, then what changes.
///
/// MQTT doesn't say when a broker has sent all that it has kept. So the reader waits until the broker has confirmed every
/// subscription, and then until no message has come for a while, which depends on how fast the broker answers. Subscriptions are
/// made gateway by gateway, a few at a time, because brokers drop messages for a client that has too many waiting.
package actor FleetReader: IOActor {
  package nonisolated let io: IOThread
  private let client: MQTTClient
  private let broker: BrokerAddress
  private var store: FleetStore
  private var scope: FleetScope
  private var pump: Task<Void, Never>?

  // Subscriptions of this connection.
  private var isConnected = false
  private var waiting: Deque<String> = []
  private var unconfirmed: Set<String> = []
  private var subscribed: Set<String> = []

  // Loading.
  private var loader: CheckedContinuation<Result<Bool, AccessoryError>, Never>?
  private var quietTimer, limitTimer, renewalTimer: TimerToken?
  private var lastNews = MonotonicTime.now
  private var firstAsked: MonotonicTime?
  private var quiet = FleetReader.shortestQuiet
  private var waitsForQuiet = true

  // Following.
  private var isFollowed = false
  private var waitingNews: Deque<FleetNews> = []
  private var waitingChanges: Set<FleetChange> = []
  private var follower: CheckedContinuation<FleetNews?, Never>?
  private var room: CheckedContinuation<Void, Never>?
  private var isClosed = false

  /// The most subscriptions that the broker hasn't confirmed.
  private static let unconfirmedLimit = 32
  /// The most events and answers that wait for the one who follows; then no message is taken. Changes don't count: each of them waits once,
  /// and there are no more of them than the store has places.
  private static let newsLimit = 256
  /// How long no message must come, for a broker nearby and at most.
  private static let shortestQuiet = Duration.milliseconds(200)
  private static let longestQuiet = Duration.seconds(2)
  /// How long after a reconnect a gateway has to publish again, if the broker has forgotten it.
  static let renewalTime = Duration.seconds(20)

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A reader that isn't connected yet.
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

  /// Loads what the broker has of `scope`, beside what was loaded before. Connects first where that is necessary. Returns whether
  /// it is complete: false when `limit` is over and the broker still sends. Throws the error of connecting or subscribing, and
  /// `timedOut` when there is no connection within `limit`.
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

  /// What was loaded.
  package var fleet: FleetStore { store }

  /// From now on changes are kept for `next`. Before that they are in `fleet` only, so this is called between `load` and `fleet`.
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

  /// Sends a message to the broker. Returns false when too many wait.
  package func publish(_ message: MQTTMessage) async -> Bool { await client.publish(message) }

  /// Subscribes to a topic whose messages are news for `next`, and waits until the broker has confirmed it. Throws as `load` does.
  package func subscribe(_ topic: String, within limit: Duration) async throws(AccessoryError) {
    add(topic)
    waitsForQuiet = false
    defer { waitsForQuiet = true }
    guard try await load(scope, within: limit) else {
      throw AccessoryError(.timedOut, "the broker \(broker) did not answer in time")
    }
  }

  /// Leaves the broker.
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
      // What is there already, and what is missing.
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

  /// Ends the loading when nothing has come for long enough, or waits for the rest of that time.
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

  /// A broker that keeps nothing across its restart names only those gateways that publish again.
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

/// What a reader that follows a fleet learns.
package enum FleetNews: Sendable {
  /// Something has changed in what `fleet` returns.
  case change(FleetChange)
  /// Something has happened to an accessory: the message, a `FleetEvent`.
  case event(FleetStore.Key, [UInt8])
  /// A command was answered: the message, a `FleetResult`.
  case result(topic: String, [UInt8])
  /// The broker is there again.
  case connected
  /// The broker is gone; the next try is after `retry`.
  case disconnected(AccessoryError, retry: Duration)
  /// The broker has refused a subscription or a message.
  case refused(AccessoryError)
}

extension AccessoryError {
  fileprivate static let interrupted = AccessoryError(.cancelled, "interrupted")
}
