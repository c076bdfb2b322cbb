// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import BridgeService

/// The wall clock jumps, the machine sleeps, starts again, and has no clock that goes on while it is off.
struct HistoryTimelineTests {
  private static let year = 365.0 * 86_400
  private static let start = 1_795_337_580.0

  /// A battery's series is also found by the published key of its quantity, unless a value has that name.
  @Test func aSeriesIsFoundByItsKey() throws {
    var keeper = HistoryKeeper(uptime: World.time(1), wall: Self.start)
    func names(_ asked: [String], of keeper: inout HistoryKeeper) -> [String] {
      keeper.answer(of: "A", last: nil, at: World.time(20), wall: Self.start + 19).series(asked).map(\.name)
    }
    for term in Vocabulary.kept {
      let name = try #require(term.series)
      _ = keeper.note([(name, term.measure?.unit?.rawValue, 1)], of: "A", at: World.time(10), wall: Self.start + 9)
      #expect(names([term.key], of: &keeper) == [name])
      #expect(names([name], of: &keeper) == [name])
    }
    _ = keeper.note([("percent", nil, 1)], of: "A", at: World.time(10), wall: Self.start + 9)
    #expect(names(["percent"], of: &keeper) == ["percent"])
    #expect(names(["remaining_mah"], of: &keeper) == [])
  }

  /// A history that is read every 10 s. `wall` is the wall clock, `uptime` the clock that only goes forward.
  private struct World {
    var wall = HistoryTimelineTests.start
    var uptime = 1_000.0
    var keeper: HistoryKeeper

    init() { keeper = HistoryKeeper(uptime: Self.time(1_000), wall: HistoryTimelineTests.start) }

    static func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    /// Reads `count` times, each 10 s after the last.
    mutating func read(_ count: Int) {
      for _ in 0..<count {
        pass(10)
        _ = keeper.note([("x", "V", uptime)], of: "A", at: Self.time(uptime), wall: wall)
      }
    }

    mutating func pass(_ seconds: Double) {
      uptime += seconds
      wall += seconds
    }

    mutating func points(last seconds: Double? = nil) -> [ReadingSeries.Point] {
      keeper.answer(of: "A", last: seconds, at: Self.time(uptime), wall: wall).series(nil).first?.points ?? []
    }
  }

  @Test(arguments: [31_536_000, -31_536_000, 3_600, -3_600, 1e12, -1e12, Double.infinity, Double.nan])
  func aJumpLosesNothingAndPutsNothingIntoTheFuture(jump: Double) {
    var world = World()
    world.read(100)
    let bytes = world.keeper.store.byteCount
    world.wall += jump
    world.read(100)
    let points = world.points()
    // The values are the times of the other clock, so the ages are known. A wall clock beyond reason counts as 1970 or 2106.
    let now = min(max(world.wall.isFinite ? world.wall : 0, 0), Double(UInt32.max))
    #expect(points.count { $0.mean != nil } >= 200)
    for point in points {
      guard let value = point.least else { continue }
      #expect(abs((now - point.time) - (world.uptime - value)) <= 12, "\(point)")
      #expect(point.time <= now + 2)
    }
    for (point, next) in zip(points, points.dropFirst()) { #expect(point.time < next.time) }
    #expect(world.keeper.store.byteCount < bytes * 4)
    // And back.
    if jump.isFinite { world.wall -= jump }
    world.read(10)
    #expect(world.points().count { $0.mean != nil } >= 210)
  }

  @Test func aClockThatIsSetAgainAndAgainDoesNotGrowMemory() {
    var world = World()
    for round in 0..<2_000 {
      world.wall += round.isMultiple(of: 2) ? Self.year : -Self.year
      world.read(1)
    }
    #expect(world.keeper.store.byteCount <= HistoryLimits.accessoryByteLimit)
    #expect(world.points().count { $0.mean != nil } >= 360)
  }

  @Test func timesDoNotFlickerWhileTheClockIsAdjusted() {
    var world = World()
    world.read(50)
    let before = world.points().map(\.time)
    for _ in 0..<20 {
      world.wall += 0.05
      #expect(world.points().map(\.time) == before)
    }
  }

  private func line(
    _ boot: String, uptime: Double, wall: Double, after anchor: HistoryTimeline.Anchor?
  ) -> HistoryTimeline {
    HistoryTimeline(boot: boot, uptime: World.time(uptime), wall: wall, after: anchor)
  }

  @Test func aRestartOfTheServiceGoesOnByTheBootClock() {
    let old = line("a", uptime: 1_000, wall: Self.start, after: nil)
    // The wall clock has jumped by a year meanwhile.
    for jump in [0, Self.year, -Self.year] {
      let anchor = old.anchor(at: World.time(1_500), wall: Self.start + 500)
      let new = line("a", uptime: 1_600, wall: Self.start + 600 + jump, after: anchor)
      #expect(abs(new.time(at: World.time(1_600)) - (old.time(at: World.time(1_500)) + 100)) < 0.001)
      #expect(abs(new.offset - jump) <= 1 && new.seam == nil)
    }
    // Without a name of the boot, clocks that agree are those of one boot.
    let anchor = line("", uptime: 1_000, wall: Self.start, after: nil).anchor(
      at: World.time(1_500), wall: Self.start + 500)
    let same = line("", uptime: 1_600, wall: Self.start + 601, after: anchor)
    #expect(same.seam == nil && abs(same.time(at: World.time(1_600)) - anchor.time - 100) < 0.001)
    let other = line("", uptime: 1_600, wall: Self.start + 9_000, after: anchor)
    #expect(other.seam?.gap == 8_500)
  }

  @Test func anotherBootGoesOnByTheWallClock() {
    let anchor = line("a", uptime: 1_000, wall: Self.start, after: nil).anchor(at: World.time(1_000), wall: Self.start)
    #expect(line("b", uptime: 20, wall: Self.start + 7_200, after: anchor).seam?.gap == 7_200)
    // A clock that was set back, or a long time, are bounded.
    #expect(line("b", uptime: 20, wall: 0, after: anchor).seam?.gap == 300)
    #expect(line("b", uptime: 20, wall: Self.start + Self.year, after: anchor).seam?.gap == 86_700)
  }

  /// A small computer without a clock of its own starts in 1970; the network tells the time a minute later.
  @Test func aClockThatIsSetAfterTheStartTellsHowLongTheMachineWasOff() {
    let anchor = line("a", uptime: 1_000, wall: Self.start, after: nil).anchor(at: World.time(1_000), wall: Self.start)
    var new = line("b", uptime: 20, wall: 0, after: anchor)
    let move = new.note(wall: Self.start + 36_000, at: World.time(80))
    #expect(move?.by == -35_400)  // 36,000 s were off, less the minute, less the span that was assumed, in whole spans
    #expect(new.note(wall: Self.start + 36_001, at: World.time(81)) == nil)
    // A clock that was a year ahead is set back.
    var late = line("b", uptime: 20, wall: Self.start + Self.year, after: anchor)
    #expect(late.note(wall: Self.start + 660, at: World.time(80))?.by == 86_100)
  }

  @Test func whatIsMovedStaysInOrder() throws {
    var store = HistoryStore()
    for index in 0..<1_000 { store.add("A", "x", unit: nil, Double(index), at: 100_000 + Double(index) * 10) }
    store.interrupt("A")
    for index in 0..<10 { store.add("A", "x", unit: nil, -1, at: 120_000 + Double(index) * 10) }
    let before = try #require(store.accessories["A"]).series[0].points(since: 0, offset: 0)
    store.shift(before: 120_000, by: -36_000)
    let after = try #require(store.accessories["A"]).series[0].points(since: 0, offset: 0)
    #expect(after.count == before.count)
    for (old, new) in zip(before, after) where (old.mean ?? -1) >= 0 {
      #expect(new.mean == old.mean && new.time == old.time - 36_000)
    }
    // Back, and further than there is room: nothing lies behind what came later.
    store.shift(before: 120_000, by: 36_000)
    #expect(store.accessories["A"]?.series[0].points(since: 0, offset: 0) == before)
    store.shift(before: 120_000, by: 86_400)
    let rest = try #require(store.accessories["A"]).series[0].points(since: 0, offset: 0)
    for (point, next) in zip(rest, rest.dropFirst()) { #expect(point.time < next.time) }
    #expect(rest.contains { $0.mean == -1 })
  }
}
