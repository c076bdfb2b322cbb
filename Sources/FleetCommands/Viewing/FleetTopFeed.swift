// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import AccessoryIO
import CommandOutput

/// The accessories of a fleet, for `top`: what the broker has kept first, then what changes. Documents are read a limited
/// number at a time, and values only of the accessories that are shown.
actor FleetTopFeed: TopFeed {
  nonisolated let news: AsyncStream<Void>
  private let changed: AsyncStream<Void>.Continuation
  private let reader: FleetReader
  private let broker: String
  private let gateway: String?
  /// The accessories whose state has changed since it was read, and those whose rows were given out.
  private var dirty: Set<FleetStore.Key> = []
  private var known: [TopicLevel: Set<FleetStore.Key>] = [:]
  /// The accessories whose rows were given out, and the keys of their rows.
  private var (keys, numbers): ([UInt64: FleetStore.Key], [FleetStore.Key: UInt64]) = ([:], [:])
  private var lastNumber: UInt64 = 0
  private var trouble: String?
  private var isLoaded = false

  init(_ settings: MQTTSettings, gateway: String?) {
    reader = FleetReader(settings)
    broker = settings.broker.description
    self.gateway = gateway
    (news, changed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  // MARK: - Following

  /// Connects with the broker. Throws when that fails.
  func begin(within limit: Duration) async throws(AccessoryError) {
    await reader.follow()
    // No topic of an accessory: this returns as soon as the broker has confirmed, and messages are taken from `run` on.
    _ = try await reader.load(FleetScope(gateway: gateway, []), within: limit)
  }

  /// Receives what the broker sends until `close`.
  func run() async {
    let loading = Task { [reader, gateway] in
      _ = try? await reader.load(
        FleetScope(gateway: gateway, [.availability, .state, .values]), within: .seconds(3_600))
      self.loaded()
    }
    while let news = await reader.next() { take(news) }
    loading.cancel()
  }

  func close() async { await reader.close() }

  private func loaded() {
    isLoaded = true
    changed.yield()
  }

  private func take(_ news: FleetNews) {
    switch news {
    case .change(.gateway(let gateway, _)): dirty.formUnion(known[gateway] ?? [])
    case .change(.accessory(let key, _)):
      dirty.insert(key)
      known[key.gateway, default: []].insert(key)
    case .disconnected(let error, _): trouble = SafeText.escape(error.message, limit: 200)
    case .refused(let error): trouble = SafeText.escape(error.message, limit: 200)
    case .connected: trouble = nil
    case .event, .result: return
    }
    changed.yield()
  }

  // MARK: - For the screen

  func take(limit: Int, now: MonotonicTime) async -> TopChanges {
    var changes = TopChanges()
    let fleet = await reader.fleet
    let wallClock = WallClock.seconds
    var count = 0
    while count < limit, let key = dirty.popFirst() {
      count += 1
      if let one = fleet.accessory(key) {
        changes.rows.append(TopRow(one, key: number(of: key), now: now, wallClock: wallClock))
      } else if let number = numbers.removeValue(forKey: key) {
        keys[number] = nil
        changes.removed.append(number)
        known[key.gateway]?.remove(key)
      }
    }
    changes.hasMore = !dirty.isEmpty
    if let trouble { changes.notes.append("\(trouble): waiting for the broker") }
    if fleet.dropped > 0 {
      changes.notes.append("\(Amount.of(fleet.dropped, "message")) had another form, or no room")
    }
    changes.emptyText =
      isLoaded
      ? "No accessory found. A gateway publishes its own with: bridge-fleet publish" : "Waiting for \(broker) …"
    return changes
  }

  private func number(of key: FleetStore.Key) -> UInt64 {
    if let number = numbers[key] { return number }
    lastNumber += 1
    (keys[lastNumber], numbers[key]) = (key, lastNumber)
    return lastNumber
  }

  /// Ages of retained readings come with their documents.
  func refresh() async {}

  func values(of numbers: [UInt64]) async -> [UInt64: [AccessoryValue]] {
    let fleet = await reader.fleet
    var values: [UInt64: [AccessoryValue]] = [:]
    for number in numbers {
      guard let key = keys[number] else { continue }
      values[number] = fleet.accessory(key)?.values?.values.map(\.value) ?? []
    }
    return values
  }

  func history(of key: UInt64) async -> [ReadingSeries] { [] }
}

extension TopRow {
  /// A row for an accessory of a fleet, without its values. `now` and `wallClock` are the same moment.
  fileprivate init(_ one: FleetAccessory, key: UInt64, now: MonotonicTime, wallClock: Double) {
    self.init(key: key, name: one.key.description, one.state)
    (gateway, isServed, hasValues) = (one.key.gateway.text, one.isOnline, false)
    // The service's record is that of an accessory which it has.
    if !one.state.isConnected { self.record = nil }
    let time = [one.state.batteryTime, one.state.statusTime].compactMap { $0 }.max()
    self.readTime = time.map { now + min(.zero, $0 - MonotonicTime(since1970: wallClock)) }
  }
}
