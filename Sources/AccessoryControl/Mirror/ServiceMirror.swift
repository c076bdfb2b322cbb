// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The only mirror of services. It follows their accessories, requests data that isn't in events, and continues when a
/// service restarts (`ServiceFollower`, which only the mirror uses). All code that shows, publishes or waits for
/// accessories of services is a view of it.
///
/// A view takes a `snapshot` when it wants one, or follows `changes`. Both are computed from the state, so a slow view
/// needs no buffer. A view that must see intermediate states gets each event in order, through its hooks. While nothing
/// changes and no view asks, nothing runs, but for readings that an accessory hasn't answered.
package actor ServiceMirror {
  /// Data that a mirror requests in addition to the list of accessories, their batteries and their status.
  package struct Interests: OptionSet, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Values as they are reported.
    package static let values = Interests(rawValue: 1)
    /// Alarms that are raised or cleared.
    package static let alarms = Interests(rawValue: 2)
    /// Earlier readings of connected accessories; their values only if values are followed, too.
    package static let readings = Interests(rawValue: 4)
    /// The commands that the service permits to clients that may only read.
    package static let commands = Interests(rawValue: 8)
    /// The service's list after accessories were connected or disconnected. Without it, only `refreshed` requests
    /// lists.
    package static let lists = Interests(rawValue: 16)
    /// When readings become stale. There is no event for that, so the mirror requests the list.
    package static let freshness = Interests(rawValue: 32)
    /// The identity of accessories that a user has named to the service. A part of the readings.
    package static let identities = Interests(rawValue: 64)
    /// The batteries of accessories that are connected. A part of the readings.
    package static let batteries = Interests(rawValue: 128)
    /// Devices that the service begins to open. Only a view's hooks get them.
    package static let found = Interests(rawValue: 256)
    /// Accessories that the service lists and doesn't have open, with their last readings: it opens them, waits for them, has given
    /// them up, or has had them.
    package static let absent = Interests(rawValue: 512)
  }

  /// A service to follow.
  package struct Service: Sendable {
    /// The name of the service in snapshots: its socket.
    package let path: String
    /// The sockets at which it may be; the first that answers is followed.
    package let sockets: [String]
    /// Whether the service is in snapshots before it has answered for the first time.
    package let isExpected: Bool

    /// A service at one socket, or at the first of several.
    package init(_ path: String, sockets: [String]? = nil, isExpected: Bool = false) {
      (self.path, self.sockets, self.isExpected) = (path, sockets ?? [path], isExpected)
    }
  }

  /// Callbacks for a view that also needs the events.
  package struct Hooks: Sendable {
    /// Called with an event of the service with this path after the mirror has handled it, and with whether it was new:
    /// a reading may be reported again.
    ///
    /// The events of a service come in order; the next one waits until this returns. Waiting events are in the bounded
    /// buffers of the connection and of the service. When these are full, the service ends the subscription with
    /// `busy`. So no event is missing without `ended`. `read` may be called at the same time.
    package var happened: @Sendable (MirrorEvent, _ path: String, _ isNews: Bool) async -> Void = { _, _, _ in }
    /// Called once for each new reason why a service can't be followed.
    package var trouble: @Sendable (AccessoryError) -> Void = { _ in }

    package init() {}
  }

  private struct Subscriber {
    var dirty: Set<UInt64>
    let signal: AsyncStream<Void>.Continuation
  }

  private let interests: Interests
  private let clock: any TimerClock
  private let executor: (any TaskExecutor)?
  private var state: MirrorState
  private var links: [String: MirrorLink] = [:]
  private var subscribers: [UInt64: Subscriber] = [:]
  private var lastSubscriber: UInt64 = 0
  private var lastGeneration: UInt64 = 0
  private var refreshing: Task<Void, Never>?
  private var refreshTime: MonotonicTime?
  /// The phase in which accessories' first readings are requested. It ends with these, or at a time limit.
  private var reading: (end: OneShot<Void>, limit: TimerToken)?
  private var timer = DeadlineTimer()
  private let changed: AsyncStream<Void>.Continuation
  /// Yields after changes, for one reader. Several changes may be one element.
  package nonisolated let news: AsyncStream<Void>

  /// The default for how old a list may be.
  package static let listAge = Duration.seconds(2)
  /// The time limits for a list, and for an accessory's answer to one question.
  private static let (listPatience, readingPatience) = (Duration.seconds(3), Duration.seconds(30))
  /// The pauses before readings that couldn't be had are requested again: nobody tells what doesn't change.
  private static let againPauses = Duration.seconds(60)...Duration.seconds(600)
  /// The number of accessories of a service whose first readings are requested at the same time.
  private static let readers = 4
  /// Lists take at most this part of the time: one in ten.
  private static let listShare = 10
  /// The shortest pause between lists.
  private static let collecting = Duration.milliseconds(100)
  /// The longest pause between lists, and the shortest between looks for stale readings.
  private static let (listPause, freshnessPause) = (Duration.seconds(10), Duration.seconds(1))

  /// A mirror with these interests. It knows at most `countLimit` accessories of each service. `executor` runs the
  /// tasks of requests; the default is the global executor.
  package init(
    _ interests: Interests, countLimit: Int = ReplyLimits.devices, clock: any TimerClock = IOThread.shared,
    executor: (any TaskExecutor)? = nil
  ) {
    (self.interests, self.clock, self.executor) = (interests, clock, executor)
    state = MirrorState(countLimit: countLimit, keepsAbsent: interests.contains(.absent))
    (news, changed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  // MARK: - For views

  /// The current state.
  package var snapshot: MirrorSnapshot { state.snapshot }

  /// The accessory with this number; nil if there is none, or it was forgotten.
  package func accessory(_ id: UInt64) -> MirroredAccessory? { state[id] }

  /// Whether the service decides at its socket which commands are permitted; false while it isn't running.
  package func permitsCommands(of path: String) -> Bool { links[path]?.permitsCommands ?? false }

  /// The current state, after requesting the services' lists of accessories and the age of readings.
  ///
  /// Doesn't request lists that are newer than `age`, unless one of their readings has become stale.
  package func refreshed(olderThan age: Duration = listAge) async -> MirrorSnapshot {
    if let refreshing {
      await refreshing.value
    } else if refreshTime.map({ clock.now - $0 >= age }) ?? true || state.staleTime.map({ $0 <= clock.now }) ?? false {
      let task = Task { for path in self.links.keys.sorted() { await self.readList(path) } }
      refreshing = task
      await task.value
      refreshing = nil
      refreshTime = clock.now
    }
    return state.snapshot
  }

  /// Waits until the connected accessories have answered for the first time, so that their readings don't look stale.
  /// The time limit is that of a list, from the first accessory.
  package func firstReadings() async { await reading?.end.value() }

  /// The current state, and then the changes. For one consumer.
  package func changes() -> MirrorChanges {
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    lastSubscriber += 1
    let id = lastSubscriber
    subscribers[id] = Subscriber(dirty: Set(state.snapshot.accessories.map(\.id)), signal: signal)
    signal.onTermination = { [weak self] _ in Task { await self?.unsubscribe(id) } }
    signal.yield()
    return MirrorChanges(mirror: self, id: id, signals: signals)
  }

  private func unsubscribe(_ id: UInt64) { subscribers[id] = nil }

  /// The changes for this subscriber since its last request.
  func takeChange(of id: UInt64) -> MirrorChange {
    let dirty = subscribers[id]?.dirty ?? []
    subscribers[id]?.dirty = []
    var change = MirrorChange(services: state.shownServices)
    for id in dirty.sorted() {
      if let accessory = state[id] { change.accessories.append(accessory) } else { change.forgotten.append(id) }
    }
    return change
  }

  private func publish() {
    let dirty = state.takeChanged()
    for id in subscribers.keys {
      subscribers[id]?.dirty.formUnion(dirty)
      subscribers[id]?.signal.yield()
    }
    changed.yield()
  }

  // MARK: - Following

  /// Follows the services until the task is cancelled.
  package func run(_ services: [Service], _ hooks: Hooks = Hooks()) async {
    for service in services where service.isExpected { state.expect(service: service.path) }
    publish()
    await withTaskGroup { group in
      for service in services { group.addTask { await self.follow(service, hooks) } }
    }
    timer.cancel(on: clock)
  }

  private func follow(_ service: Service, _ hooks: Hooks) async {
    let follower = ServiceFollower(service.sockets, interests, replyTimeout: Self.readingPatience, clock: clock)
    var told: AccessoryError?
    await follower.run { event in
      await self.take(event, of: service.path, hooks)
      switch event {
      case .begun: told = nil
      case .ended(let error) where told != error:
        told = error
        hooks.trouble(error)
      case .event, .read, .ended: break
      }
    }
    lose(service.path)
  }

  /// Handles an event from a service's follower.
  package func take(_ event: MirrorEvent, of path: String, _ hooks: Hooks = Hooks()) async {
    var isNews = true
    if case .event(let event) = event { isNews = state.isNews(event, from: path) }
    await take(event, of: path, telling: hooks)
    await hooks.happened(event, path, isNews)
  }

  /// An alarm by a rule of the view was raised or cleared. `path` is the socket of the accessory's service.
  package func take(own alarm: AccessoryAlarm, _ change: AlarmChange, of device: Device, from path: String) {
    state.take(own: alarm, change, of: device, from: path)
    publish()
  }

  private func take(_ event: MirrorEvent, of path: String, telling hooks: Hooks) async {
    switch event {
    case .begun(let client):
      lastGeneration += 1
      var link = MirrorLink(client, generation: lastGeneration, listPatience: Self.listPatience)
      link.hooks = hooks
      // On the socket for readings, the list of commands has what is permitted; on the other one, all that there is.
      if interests.contains(.commands) {
        link.permitsCommands = (try? await client.service())?.readings_socket == client.socketPath
      }
      links[path] = link
      state.begin(service: path)
    case .event(let event):
      if let arrived = state.take(event, from: path, now: clock.now) { readSoon(arrived, path) }
      switch event {
      case .ready, .connected, .disconnected, .changed: listSoon(path)
      case .battery(let device, _, _), .status(let device, _, _), .values(let device, _, _):
        // Each event makes it later; the timer needs to be set only where there is none, or it is late for this accessory.
        guard let time = state[device.place, path]?.staleTime, timer.deadline.map({ time < $0 }) ?? true else { break }
        lookWhenStale()
      default: break
      }
    case .read: break
    case .ended: return lose(path)
    }
    publish()
  }

  private func lose(_ path: String) {
    links.removeValue(forKey: path)?.end()
    endReading()
    state.lose(service: path)
    publish()
  }

  // MARK: - Lists

  /// Requests the list soon, once for all events until then.
  private func listSoon(_ path: String) {
    guard interests.contains(.lists) || interests.contains(.freshness), let link = links[path] else { return }
    links[path]?.wantsList = true
    guard !link.isListing else { return }
    links[path]?.isListing = true
    let task = Task(executorPreference: executor) { await self.readLists(path, link.generation) }
    links[path]?.tasks.append(task)
  }

  private func readLists(_ path: String, _ generation: UInt64) async {
    while !Task.isCancelled, let link = links[path], link.generation == generation, link.wantsList {
      if let (time, took) = link.lastList {
        let passed: Duration = clock.now - time
        let pause = min(max(took * Self.listShare, Self.collecting), Self.listPause) - passed
        if pause > .zero { await clock.sleep(for: pause) }
        guard !Task.isCancelled, links[path]?.generation == generation else { return }
      }
      links[path]?.wantsList = false
      await readList(path)
    }
    if links[path]?.generation == generation { links[path]?.isListing = false }
  }

  private func readList(_ path: String) async {
    guard let link = links[path] else { return }
    let start = clock.now
    do throws(AccessoryError) {
      let list = try await link.lists.list(absent: interests.contains(.absent))
      guard links[path]?.generation == link.generation else { return }
      links[path]?.lastList = (clock.now, clock.now - start)
      state.note(service: path, isUp: true)
      for device in state.take(list, from: path, now: clock.now) { readSoon(device, path) }
    } catch {
      guard links[path]?.generation == link.generation else { return }
      // Its readings are unknown until it answers again.
      state.note(service: path, isUp: false)
      let socket = link.lists.socketPath
      if let again = try? await BridgeClient.connect(to: socket, replyTimeout: Self.listPatience),
        links[path]?.generation == link.generation
      {
        links[path]?.lists = again
      }
    }
    publish()
    lookWhenStale()
  }

  /// Requests the list again when the next accessory becomes stale, unless it is read before.
  private func lookWhenStale() {
    guard interests.contains(.freshness) else { return }
    let time = state.staleTime.map { max($0, clock.now + Self.freshnessPause) }
    timer.set(time, on: clock) { [weak self] in Task { await self?.lookForStale() } }
  }

  private func lookForStale() {
    timer.ended()
    guard let time = state.staleTime else { return }
    // Readings that have come in the meantime keep it fresh for longer.
    if time > clock.now { return lookWhenStale() }
    for path in links.keys { listSoon(path) }
  }

  // MARK: - First readings

  /// Requests the readings of a connected accessory when it is its turn.
  private func readSoon(_ device: Device, _ path: String) {
    let asks = !interests.isDisjoint(with: [.readings, .batteries])
    guard asks || interests.contains(.identities) && device.source == .named else { return }
    guard let link = links[path] else {
      // If the service can't be called, only its events are known.
      state.take(MirrorAnswers(), of: device, from: path, now: clock.now)
      return
    }
    guard links[path]!.unread.insert(device.place).inserted else { return }
    links[path]!.queue.append(device.place)
    guard link.readerCount < Self.readers else { return }
    links[path]!.readerCount += 1
    if reading == nil {
      let end = OneShot<Void>()
      reading = (end, clock.schedule(at: clock.now + Self.listPatience) { end.finish() })
    }
    let task = Task(executorPreference: executor) { await self.readAll(path, link.generation) }
    links[path]!.tasks.append(task)
  }

  private func readAll(_ path: String, _ generation: UInt64) async {
    var pause = ServiceFollower.pauses.shortest
    while !Task.isCancelled, let link = links[path], link.generation == generation, !link.queue.isEmpty {
      // Uses a separate connection, because an accessory may take long to answer.
      let socket = link.lists.socketPath
      guard let client = try? await BridgeClient.connect(to: socket, replyTimeout: Self.readingPatience) else {
        await clock.sleep(for: pause)
        pause = min(pause * 2, ServiceFollower.pauses.longest)
        continue
      }
      while !Task.isCancelled, links[path]?.generation == generation, let place = links[path]?.queue.popFirst() {
        links[path]?.unread.remove(place)
        guard let accessory = state[place, path] else { continue }
        let device = accessory.device
        let start = clock.now
        var answers = await MirrorAnswers(
          asking: accessory.record.map { client.device($0, label: device.id) }
            ?? client.device(place, label: device.id),
          for: interests, commands: link.permitsCommands)
        answers.askTime = start
        guard !Task.isCancelled, links[path]?.generation == generation else { break }
        let news = state.take(answers, of: device, from: path, now: clock.now)
        publish()
        if let news { await link.hooks.happened(.read(device, news), path, true) }
        guard answers.failureCount > 0 else {
          links[path]?.pauses[place] = nil
          continue
        }
        readAgain(device, path, generation)
        // The service may still be asking for what took too long, and would answer nothing else on this connection before.
        break
      }
      client.close()
    }
    guard links[path]?.generation == generation else { return }
    links[path]?.readerCount -= 1
    endReading()
    // Only now the service knows until when they are fresh.
    if interests.contains(.freshness) { listSoon(path) }
  }

  /// Requests the readings once more after a pause, if the accessory is there then.
  private func readAgain(_ device: Device, _ path: String, _ generation: UInt64) {
    let pauses = Self.againPauses
    let pause = links[path]?.pauses[device.place].map { min($0 * 2, pauses.upperBound) } ?? pauses.lowerBound
    links[path]?.pauses[device.place] = pause
    _ = clock.schedule(at: clock.now + pause) { [weak self] in
      Task { await self?.readIfThere(device, path, generation) }
    }
  }

  private func readIfThere(_ device: Device, _ path: String, _ generation: UInt64) {
    guard links[path]?.generation == generation else { return }
    guard let accessory = state[device.place, path], accessory.device.id == device.id else {
      links[path]?.pauses[device.place] = nil
      return
    }
    readSoon(accessory.device, path)
  }

  private func endReading() {
    guard let reading, links.values.allSatisfy({ $0.readerCount == 0 }) else { return }
    clock.cancel(reading.limit)
    reading.end.finish()
    self.reading = nil
  }

  // MARK: - Once

  /// Asks a service for its accessories and their readings, without following it. Throws when the service can't be
  /// asked.
  package func readOnce(_ path: String) async throws(AccessoryError) {
    state.expect(service: path)
    let client = try await BridgeClient.connect(to: path, replyTimeout: Self.readingPatience)
    defer { client.close() }
    let list = try await client.list(absent: interests.contains(.absent))
    lastGeneration += 1
    links[path] = MirrorLink(client, generation: lastGeneration, listPatience: Self.readingPatience)
    defer { links.removeValue(forKey: path)?.end() }
    state.note(service: path, isUp: true)
    for device in state.take(list, from: path, now: clock.now) { readSoon(device, path) }
    for task in links[path]?.tasks ?? [] { await task.value }
    state.take(try await client.list(absent: interests.contains(.absent)), from: path, now: clock.now)
  }
}
