// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CommandOutput

/// The state of the page: the accessories of the feed while anybody looks. Some time after the last look the feed is closed; then the
/// service sends nothing, and nothing runs here.
actor WebState {
  /// A snapshot of the state.
  struct Snapshot: Sendable {
    /// The accessories and the names of their pages. Accessories that need attention come first.
    var rows: [(name: String, row: TopRow)] = []
    /// Notes about the feed, escaped.
    var notes: [String] = []
    var emptyText = ""
    /// The number of accessories that don't fit on the page.
    var leftOut = 0
    /// Incremented with each change.
    var version: UInt64 = 0
  }

  /// The most accessories on a page.
  static let rowLimit = 512
  /// The most events that are kept of an accessory, and the most accessories with events.
  private static let (eventLimit, historyLimit) = (50, 1_024)
  /// How long the feed stays open after the last look.
  private static let linger = Duration.seconds(30)
  /// The pause before a failed feed is opened again.
  private static let retryPause = Duration.seconds(10)
  /// How long the first look waits for readings.
  private static let patience = Duration.milliseconds(1_500)
  /// The interval at which the ages of readings are updated.
  private static let agePause = Duration.seconds(10)
  /// The most changes that are applied at once.
  private static let takeLimit = 256

  private let clock: any TimerClock
  private let makeFeed: @Sendable () async throws(AccessoryError) -> any WebFeed
  private let wallClock: @Sendable () -> Double
  private var rows: [UInt64: TopRow] = [:]
  private var names: [UInt64: String] = [:]
  private var keys: [String: UInt64] = [:]
  private var events: [String: [WebEvent]] = [:]
  /// The last state of accessories that have left the list, by name.
  private var gone: [String: TopRow] = [:]
  private var (notes, emptyText): ([String], String) = ([], "")
  private var version: UInt64 = 1
  private var waiting: [UInt64: OneShot<Void>] = [:]
  private var lastWaiting: UInt64 = 0

  private var feed: (any WebFeed)?
  /// Incremented with each feed. The keys of rows are valid within one feed.
  private(set) var feedNumber: UInt64 = 0
  private var following: Task<Void, Never>?
  private var lookCount = 0
  private var ending: TimerToken?
  private var refreshing = DeadlineTimer()
  private var settled: OneShot<Void>?

  init(
    clock: any TimerClock, wallClock: @escaping @Sendable () -> Double,
    feed: @escaping @Sendable () async throws(AccessoryError) -> any WebFeed
  ) {
    (self.clock, self.wallClock, makeFeed) = (clock, wallClock, feed)
  }

  // MARK: - Looking

  /// Starts a look, which `leave` ends. Returns when there is something to show, or `patience` has passed.
  func look() async {
    lookCount += 1
    if let ending { clock.cancel(ending) }
    ending = nil
    if following == nil { follow() }
    await settled?.value()
  }

  /// Ends a look.
  func leave() {
    lookCount -= 1
    guard lookCount == 0 else { return }
    ending = clock.schedule(at: clock.now + Self.linger) { [weak self] in Task { await self?.end(ifUnseen: true) } }
  }

  /// Ends the feed; with `isOver`, only if nobody looks.
  func end(ifUnseen isOver: Bool = false) {
    if isOver, lookCount > 0 { return }
    following?.cancel()
    (following, feed) = (nil, nil)
    refreshing.cancel(on: clock)
    settle()
  }

  private func settle() {
    settled?.finish()
    settled = nil
  }

  private func follow() {
    (rows, names, keys, gone) = ([:], [:], [:], [:])
    (notes, emptyText) = ([], "Looking for accessories …")
    feedNumber += 1
    let settled = OneShot<Void>()
    self.settled = settled
    _ = clock.schedule(at: clock.now + Self.patience) { settled.finish() }
    following = Task { await self.run() }
  }

  private func run() async {
    let feed: any WebFeed
    do throws(AccessoryError) {
      feed = try await makeFeed()
    } catch {
      (notes, following) = ([SafeText.escape(error.message, limit: 300)], nil)
      settle()
      changed()
      _ = clock.schedule(at: clock.now + Self.retryPause) { [weak self] in Task { await self?.tryAgain() } }
      return
    }
    guard !Task.isCancelled else { return await feed.close() }
    self.feed = feed
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await feed.run() }
      group.addTask {
        await self.take(from: feed)
        for await _ in feed.news { await self.take(from: feed) }
      }
      await group.waitForAll()
    }
    await feed.close()
  }

  /// Opens the feed again while somebody still looks.
  private func tryAgain() { if lookCount > 0, following == nil { follow() } }

  private func take(from feed: any WebFeed) async {
    var hasMore = true
    while hasMore, !Task.isCancelled {
      let changes = await feed.take(limit: Self.takeLimit, now: clock.now)
      guard !Task.isCancelled else { return }
      hasMore = changes.hasMore
      for key in changes.removed { remove(key) }
      for row in changes.rows.sorted(by: Self.isNamedBefore) { put(row) }
      (notes, emptyText) = (changes.notes, changes.emptyText)
      refreshLater(after: changes.refreshAfter)
    }
    changed()
    if notes.isEmpty, !rows.isEmpty, rows.values.allSatisfy({ $0.reach != .attached || $0.accessory.isAsked }) {
      settle()
    }
  }

  /// Schedules an update of the readings' ages: an unchanged reading isn't reported.
  private func refreshLater(after pause: Duration?) {
    let due = clock.now + min(pause ?? Self.agePause, Self.agePause)
    refreshing.advance(to: due, on: clock) { [weak self] _ in Task { await self?.refresh() } }
  }

  private func refresh() async {
    guard let feed else { return }
    refreshing.ended()
    await feed.refresh()
    // Everybody may have left by now.
    if self.feed != nil { refreshLater(after: nil) }
  }

  // MARK: - Accessories

  private func remove(_ key: UInt64) {
    if let row = rows.removeValue(forKey: key), row.reach != .attached, gone.count < Self.historyLimit {
      gone[row.name] = row
    }
    if let name = names.removeValue(forKey: key) { keys[name] = nil }
  }

  private func put(_ row: TopRow) {
    if let old = rows[row.key] ?? gone.removeValue(forKey: row.name) {
      note(WebEvent.between(old, row, at: wallClock()), of: row)
    }
    // It was connected when the service says, not when somebody looked.
    if row.reach == .attached, let since = row.accessory.record?.connected_since {
      let event = WebEvent(time: since, text: DeviceEventName.connected.rawValue)
      let isKnown = (events[row.name] ?? []).contains { $0.text == event.text && abs($0.time - since) < 5 }
      if !isKnown { note([event], of: row) }
    }
    rows[row.key] = row
    guard names[row.key] == nil else { return }
    let name = PageName.encode(row.name)
    var free = name
    var number = 2
    while keys[free] != nil {
      free = "\(name)~\(number)"
      number += 1
    }
    (names[row.key], keys[free]) = (free, row.key)
  }

  /// The order in which the pages of accessories with the same name are numbered.
  private static func isNamedBefore(_ a: TopRow, _ b: TopRow) -> Bool {
    (a.accessory.service, a.device.place, a.key) < (b.accessory.service, b.device.place, b.key)
  }

  /// Adds events. They are kept by the visible name, so that they remain when an accessory comes back at another port.
  private func note(_ new: [WebEvent], of row: TopRow) {
    guard !new.isEmpty, events[row.name] != nil || events.count < Self.historyLimit else { return }
    events[row.name] = ((events[row.name] ?? []) + new).suffix(Self.eventLimit)
  }

  // MARK: - Reading the state

  /// Incremented with each change.
  var currentVersion: UInt64 { version }

  /// The current state.
  func snapshot() async -> Snapshot {
    var shown = Snapshot(notes: notes, emptyText: emptyText, version: version)
    let places = rows.values.enumerated().map { (row: $0.element, place: TopSort.alarm.place($0.element, $0.offset)) }
    let sorted = places.sorted { TopSort.alarm.isBefore($0.place, $1.place, isInverted: false) }.map(\.row)
    shown.leftOut = max(0, sorted.count - Self.rowLimit)
    shown.rows = await withValues(Array(sorted.prefix(Self.rowLimit))).compactMap { row in
      names[row.key].map { ($0, row) }
    }
    return shown
  }

  /// The accessory whose page has this name; nil if there is none.
  func row(named name: String) async -> TopRow? {
    guard let key = keys[name], let row = rows[key] else { return nil }
    return await withValues([row]).first
  }

  /// The accessory's events while anybody looked.
  func events(of row: TopRow) -> [WebEvent] { events[row.name] ?? [] }

  /// The series shown for an accessory: those of its battery, and of its first numeric values.
  static func seriesNames(of row: TopRow) -> [String] {
    let values = (row.values ?? []).filter { $0.historyNumber != nil && TopRow.isMeasured($0) }
      .sorted { $0.importance < $1.importance }.prefix(8).map(\.name)
    return ReadingSeries.batteryNames + values
  }

  /// The kept points of these series of an accessory in the last `time`.
  func history(of row: TopRow, _ names: [String], last time: Duration) async -> [ReadingSeries] {
    await feed?.history(of: row.key, names, last: time) ?? []
  }

  /// A series of an accessory's last 24 hours, and the energy of each hour.
  func day(of row: TopRow, _ name: String?, step: Double) async -> (series: [ReadingSeries], energy: Energy?) {
    await feed?.day(of: row.key, name, step: step) ?? ([], nil)
  }

  /// The commands that the service permits.
  func commands(of row: TopRow) async -> [CommandDescription] { await feed?.commands(of: row.key) ?? [] }

  /// Performs one of these commands.
  func perform(
    _ command: CommandDescription, _ arguments: [String: String], on row: TopRow
  ) async throws(AccessoryError) -> [NamedValue] {
    guard let feed else { throw AccessoryError(.notFound, "its service isn't there") }
    return try await feed.perform(command, arguments, on: row.key)
  }

  /// Adds a text to the list of the accessory's events.
  func note(_ text: String, of row: TopRow) {
    note([WebEvent(time: wallClock(), text: SafeText.escape(text, limit: 500))], of: row)
    changed()
  }

  private func withValues(_ rows: [TopRow]) async -> [TopRow] {
    let missing = rows.filter { !$0.hasValues }.map(\.key)
    guard !missing.isEmpty, let values = await feed?.values(of: missing) else { return rows }
    return rows.map { row in
      guard let its = values[row.key] else { return row }
      var row = row
      row.accessory.values = ValuesReading(its, at: clock.now)
      row.hasValues = true
      return row
    }
  }

  // MARK: - Changes

  /// Lets the pages be drawn again, because something else of them has changed.
  func redraw() { changed() }

  private func changed() {
    version += 1
    for waiter in waiting.values { waiter.finish() }
    waiting = [:]
  }

  /// Waits for a change after this version, at most until `deadline`, or until the task is cancelled.
  func wait(after old: UInt64, until deadline: MonotonicTime) async {
    guard version <= old, clock.now < deadline else { return }
    lastWaiting += 1
    let (id, waiter) = (lastWaiting, OneShot<Void>())
    waiting[id] = waiter
    let timer = clock.schedule(at: deadline) { waiter.finish() }
    await waiter.value(whenCancelled: ())
    clock.cancel(timer)
    waiting[id] = nil
  }
}

/// A look at the state. It ends when it is released.
final class Look: Sendable {
  private let state: WebState

  /// Begins to look; returns when there is something to show.
  init(at state: WebState) async {
    self.state = state
    await state.look()
  }

  deinit { Task { [state] in await state.leave() } }
}
