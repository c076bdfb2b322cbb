// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// The overviews of the accessories in the list.
struct DayOverviews: Sendable {
  /// The most accessories of which an overview is kept.
  private static let limit = 256
  /// How long one is shown before it is asked for again.
  private static let age = Duration.seconds(300)

  private var known: [UInt64: DayOverview] = [:]

  subscript(_ key: UInt64) -> DayOverview? { known[key] }

  /// Those of the accessories whose overview is missing or old.
  func wanted(among rows: [TopRow], now: MonotonicTime) -> [TopRow] {
    rows.prefix(Self.limit).filter { row in
      guard row.isServed, row.gateway == nil else { return false }
      return known[row.key].map { now - $0.time >= Self.age } ?? true
    }
  }

  mutating func put(_ overview: DayOverview, for row: TopRow) {
    if known[row.key] == nil, known.count >= Self.limit, let oldest = known.min(by: { $0.value.time < $1.value.time }) {
      known[oldest.key] = nil
    }
    known[row.key] = overview
  }
}

/// Asks for the overviews, one accessory after another, while somebody looks at the list: so many accessories don't load the service.
actor OverviewReader {
  private let state: WebState
  private let clock: any TimerClock
  private let wallClock: @Sendable () -> Double
  private var known = DayOverviews()
  /// The number of the feed to which they belong.
  private var feedNumber: UInt64 = 0
  private var filling: Task<Void, Never>?

  /// How long a page waits for the overviews, and after how many of them it is drawn again.
  private static let (patience, group) = (Duration.milliseconds(300), 16)

  init(_ state: WebState, clock: any TimerClock, wallClock: @escaping @Sendable () -> Double) {
    (self.state, self.clock, self.wallClock) = (state, clock, wallClock)
  }

  /// What is known of these accessories. What is missing or old is asked for, and the pages are drawn again when it is there.
  func overviews(of rows: [TopRow]) async -> DayOverviews {
    await forgetOldFeed()
    if filling == nil, !known.wanted(among: rows, now: clock.now).isEmpty { filling = Task { await self.fill() } }
    return known
  }

  /// Waits until all were asked for, but not long.
  func wait() async {
    _ = await overviews(of: await state.snapshot().rows.map(\.row))
    guard let filling else { return }
    let done = OneShot<Void>()
    let timer = clock.schedule(at: clock.now + Self.patience) { done.finish() }
    Task {
      await filling.value
      done.finish()
    }
    await done.value()
    clock.cancel(timer)
  }

  /// What is known of one feed means nothing in the next one.
  private func forgetOldFeed() async {
    let feed = await state.feedNumber
    if feed != feedNumber { (feedNumber, known) = (feed, DayOverviews()) }
  }

  private func fill() async {
    let look = await Look(at: state)
    defer { withExtendedLifetime(look) {} }
    var count = 0
    for row in known.wanted(among: await state.snapshot().rows.map(\.row), now: clock.now) {
      let (feed, name) = (feedNumber, DayOverview.seriesName(of: row))
      let (series, energy) = await state.day(of: row, name, step: DayOverview.step)
      guard feed == feedNumber else { break }
      known.put(DayOverview(series, energy, name: name, time: clock.now, now: wallClock()), for: row)
      count += 1
      if count % Self.group == 0 { await state.redraw() }
    }
    filling = nil
    if count % Self.group != 0 { await state.redraw() }
  }
}
