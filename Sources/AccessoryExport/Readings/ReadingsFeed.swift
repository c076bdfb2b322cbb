// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// Follows the accessories of services, and goes on when a service ends and starts again.
///
/// Changes come as the services' events. What makes no event, such as readings that become stale because the accessory
/// is silent, is asked for by `refresh`, when somebody wants to know it. So nothing happens while nothing changes and
/// nobody asks.
package actor ReadingsFeed {
  /// A service.
  package struct Service: Sendable {
    /// The path of its socket.
    let path: String
    /// Yields when it may have started, for the first time at once. May end early.
    let starts: AsyncStream<Void>
    /// Whether the service is in snapshots before it has answered for the first time.
    let isExpected: Bool

    package init(path: String, starts: AsyncStream<Void>, isExpected: Bool) {
      (self.path, self.starts, self.isExpected) = (path, starts, isExpected)
    }
  }

  private var known = KnownAccessories()
  private var lists: [String: BridgeClient] = [:]
  /// What each service has listed last, by the path of its socket.
  package private(set) var listed: [String: [Bridge.Accessory]] = [:]
  private var refreshing: Task<Void, Never>?
  private var refreshTime: MonotonicTime?
  private let clock: any TimerClock
  /// Whether alarms are followed, too.
  private let hasAlarms: Bool
  private let changes: AsyncStream<Void>.Continuation
  /// Yields after changes, for one reader. Several changes may be one element.
  package nonisolated let news: AsyncStream<Void>

  /// How old a list may be, unless somebody says otherwise.
  package static let listAge = Duration.seconds(2)
  /// The time limit for a list.
  private static let listPatience = Duration.seconds(3)
  /// The time limit for an accessory's answer to one question.
  private static let readingPatience = Duration.seconds(30)
  /// How many accessories of a service are asked for their first readings at a time.
  private static let readers = 4
  /// The shortest and the longest pause before a service that was lost is tried again.
  private static let pauses = (Duration.seconds(1), Duration.seconds(30))
  /// The pause where the service isn't there, and its start can't be noticed.
  private static let absencePause = Duration.seconds(60)

  package init(alarms hasAlarms: Bool = false, clock: any TimerClock = IOThread.shared) {
    (self.hasAlarms, self.clock) = (hasAlarms, clock)
    (news, changes) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// What is known now.
  package var snapshot: ReadingsSnapshot { known.snapshot }

  /// What is known now, after the services were asked which accessories are there and whether readings are stale.
  ///
  /// Lists that are newer than `age` are not asked for again.
  package func refreshed(olderThan age: Duration = listAge) async -> ReadingsSnapshot {
    if let refreshing {
      await refreshing.value
    } else if refreshTime.map({ clock.now - $0 >= age }) ?? true {
      let task = Task { await self.readLists() }
      refreshing = task
      await task.value
      refreshing = nil
      refreshTime = clock.now
    }
    return known.snapshot
  }

  private func readLists() async {
    for (path, client) in lists { await readList(path, client) }
  }

  private func readList(_ path: String, _ client: BridgeClient) async {
    do throws(AccessoryError) {
      let list = try await client.list()
      guard lists[path] != nil else { return }
      known.note(service: path, isUp: true)
      known.take(list, from: path, now: clock.now)
      listed[path] = list
    } catch {
      guard lists[path] != nil else { return }
      // Nothing can be said about its readings until it answers again.
      known.note(service: path, isUp: false)
      changes.yield()
      if let again = try? await BridgeClient.connect(to: path, replyTimeout: Self.listPatience), lists[path] != nil {
        lists[path] = again
      }
    }
  }

  // MARK: - Following

  /// Follows the services until the task is cancelled. `onTrouble` is called once for each new reason why a service can't
  /// be followed.
  package func run(_ services: [Service], onTrouble: @escaping @Sendable (AccessoryError) -> Void) async {
    for service in services where service.isExpected { known.note(service: service.path, isUp: false) }
    await withTaskGroup { group in
      for service in services {
        group.addTask { await self.follow(service, onTrouble: onTrouble) }
      }
    }
  }

  private func follow(_ service: Service, onTrouble: @escaping @Sendable (AccessoryError) -> Void) async {
    var starts = service.starts.makeAsyncIterator()
    _ = await starts.next()
    var pause = Self.pauses.0
    var told: AccessoryError?
    while !Task.isCancelled {
      let began = clock.now
      let error = await listen(service.path)
      lists[service.path]?.close()
      lists[service.path] = nil
      known.lose(service: service.path)
      changes.yield()
      if Task.isCancelled { return }
      if told != error {
        told = error
        onTrouble(error)
      }
      if error.kind == .notFound || error.kind == .permissionDenied {
        pause = Self.pauses.0
        if await starts.next() == nil { await clock.sleep(for: Self.absencePause) }
      } else {
        if clock.now - began > Self.pauses.1 { pause = Self.pauses.0 }
        await clock.sleep(for: pause)
        pause = min(pause * 2, Self.pauses.1)
      }
    }
  }

  /// Takes the service's events until they end; returns why.
  private func listen(_ path: String) async -> AccessoryError {
    let (arrivals, arrived) = AsyncStream<Bridge.Device>.makeStream(bufferingPolicy: .bufferingOldest(4_096))
    var reading: Task<Void, Never>?
    defer {
      arrived.finish()
      reading?.cancel()
    }
    do throws(AccessoryError) {
      let events = try await BridgeClient.events(at: path, values: true, alarms: hasAlarms)
      lists[path] = try await BridgeClient.connect(to: path, replyTimeout: Self.listPatience)
      reading = Task { await self.read(arrivals, path) }
      var iterator = events.makeAsyncIterator()
      while let event = try await iterator.next() {
        if case .ready = event { known.note(service: path, isUp: true) }
        if let device = known.take(event, from: path, now: clock.now) { arrived.yield(device) }
        changes.yield()
      }
      return AccessoryError(.disconnected, "the service at \(path) has ended")
    } catch {
      return error
    }
  }

  /// Asks accessories that were connected for their readings, a few at a time.
  private func read(_ arrivals: AsyncStream<Bridge.Device>, _ path: String) async {
    await withTaskGroup(of: Void.self) { group in
      var count = 0
      for await device in arrivals {
        if count >= Self.readers { await group.next() }
        count += 1
        group.addTask { await self.readFirst(device, path) }
      }
    }
  }

  private func readFirst(_ device: Bridge.Device, _ path: String) async {
    guard let client = try? await BridgeClient.connect(to: path, replyTimeout: Self.readingPatience) else { return }
    defer { client.close() }
    let first = await Self.firstReadings(of: client.device(device.place))
    guard !Task.isCancelled else { return }
    known.take(first, of: device, from: path, now: clock.now)
    changes.yield()
  }

  /// Asks an accessory for its identity, status, battery and values.
  private static func firstReadings(of device: BridgeDevice) async -> FirstReadings {
    var first = FirstReadings()
    func ask<Reply: Sendable>(_ question: () async throws(AccessoryError) -> Reply) async -> Reply? {
      do throws(AccessoryError) {
        return try await question()
      } catch {
        if error.kind != .unsupported { first.failureCount += 1 }
        return nil
      }
    }
    if let reply = await ask({ () async throws(AccessoryError) in try await device.status() }) {
      (first.identity, first.status) = (reply.identity.reading, reply.status.reading)
    } else if let reply = await ask({ () async throws(AccessoryError) in try await device.info() }) {
      first.identity = reply.identity?.reading
    }
    first.battery = await ask { () async throws(AccessoryError) in try await device.battery() }?.battery.reading
    first.values = await ask { () async throws(AccessoryError) in try await device.values() }?.values.map(\.reading)
    return first
  }

  // MARK: - Once

  /// Asks a service for its accessories and their readings, without following it. Throws when the service can't be
  /// asked.
  package func readOnce(_ path: String) async throws(AccessoryError) {
    known.note(service: path, isUp: false)
    let client = try await BridgeClient.connect(to: path, replyTimeout: Self.readingPatience)
    let list = try await client.list()
    known.note(service: path, isUp: true)
    for accessory in list where accessory.isReachable {
      _ = known.take(.present(accessory.device), from: path, now: clock.now)
    }
    let (devices, queue) = AsyncStream<Bridge.Device>.makeStream()
    for accessory in list.prefix(KnownAccessories.limit) where accessory.isReachable { queue.yield(accessory.device) }
    queue.finish()
    await read(devices, path)
    known.take(try await client.list(), from: path, now: clock.now)
  }
}
