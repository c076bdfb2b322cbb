// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessoryWeb

/// What is asked of a history while somebody looks.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct KnownHistoryTests {
  private typealias Point = ReadingSeries.Point

  private static func series(_ points: Point...) -> [ReadingSeries] {
    [ReadingSeries(name: ReadingSeries.percent, unit: "%", points: points)]
  }

  @Test func onlyWhatIsNewIsAskedFor() {
    var known = KnownHistory()
    var now = Sample.now
    var asked: [Duration] = []
    func look() {
      for time in known.wanted(now: now) {
        asked.append(time)
        known.take([], last: time, now: now)
      }
    }
    // An hour of looking, each second.
    for _ in 0..<3_600 {
      look()
      now = now + .seconds(1)
    }
    #expect(asked.prefix(2) == [KnownHistory.reach, KnownHistory.dayReach])
    #expect(asked.count { $0 == KnownHistory.reach } == 1)
    #expect(asked.count { $0 == KnownHistory.dayReach } <= 6)
    let rest = asked.filter { $0 != KnownHistory.reach && $0 != KnownHistory.dayReach }
    #expect(rest.count > 200 && rest.allSatisfy { $0 == .seconds(135) }, "\(rest.prefix(3))")
    // A day later all of it is.
    asked = []
    now = now + .seconds(86_400)
    look()
    #expect(asked == [KnownHistory.reach, KnownHistory.dayReach])
  }

  @Test func theNewestReplacesWhatWasThere() throws {
    var known = KnownHistory()
    let now = Sample.now
    known.take(
      Self.series(.init(time: 0, span: 1_800, 10), .init(time: 1_800, span: 1_800, 20)), last: KnownHistory.reach,
      now: now)
    known.take(
      Self.series(.init(time: 2_000, span: 10, 30), .init(time: 2_010, span: 10, 31)), last: KnownHistory.dayReach,
      now: now)
    known.take(
      Self.series(.init(time: 2_010, span: 10, 32), .init(time: 2_020, span: 10, 33)), last: .seconds(135), now: now)
    // A value that is new, and an answer without any.
    known.take(
      [ReadingSeries(name: "pv", unit: "W", points: [.init(time: 2_020, span: 1, 5)])], last: .seconds(135), now: now)
    known.take([], last: .seconds(135), now: now)
    let series = known.series(["pv", ReadingSeries.percent, "unknown"])
    #expect(series.map(\.name) == ["pv", ReadingSeries.percent])
    #expect(series[1].points.map(\.mean) == [10, 20, 30, 32, 33])
    #expect(series[1].points.map(\.span) == [1_800, 200, 10, 10, 10])
  }

  /// Nothing is drawn before the first reading, although a point of the days begins there.
  @Test(arguments: [false, true]) func aHistoryBeginsWithItsFirstReading(isAfterAGap: Bool) {
    var known = KnownHistory()
    var days = [Point(time: 1_800, span: 1_800, mean: 50, least: 40, greatest: 60)]
    if isAfterAGap { days = [Point(time: 0, span: 600, 10), Point(time: 600, span: 1_200, nil)] + days }
    known.take([ReadingSeries(name: "x", points: days)], last: KnownHistory.reach, now: Sample.now)
    let day = Self.series(.init(time: 2_000, span: 10, 60), .init(time: 2_010, span: 10, 40)).map {
      ReadingSeries(name: "x", points: $0.points)
    }
    known.take(day, last: KnownHistory.dayReach, now: Sample.now)
    let points = known.series(["x"]).first?.points ?? []
    #expect(points.suffix(2).map(\.time) == [2_000, 2_010])
    let before = isAfterAGap ? [Point(time: 0, span: 600, 10), Point(time: 600, span: 1_400, nil)] : []
    #expect(Array(points.dropLast(2)) == before)
  }

  /// A graph of ten minutes has the readings of ten minutes, although 30 days are known; and one of 30 days isn't large.
  @Test func aGraphIsAsFineAsItCanBe() async {
    let now = Sample.wallClock
    let days = (0..<1_392).map { Point(time: now - 86_400 * 30 + Double($0) * 1_800, span: 1_800, 50) }
    let day = (0..<1_000).map { Point(time: now - 3_600 + Double($0) * 3.6, span: 3.6, 60 + Double($0 % 7)) }
    let series = ReadingSeries(name: ReadingSeries.percent, unit: "%", points: ReadingSeries.joined(days, day))
    func html(_ range: String) -> String {
      GraphView(series: [series], choice: .init(query: "range=\(range)"), now: now).html
    }
    #expect(html("10min").contains("from 60 to 66 %"))
    #expect(html("1h").contains("from 60 to 66 %"))
    let month = html("30d")
    #expect(month.contains("from 50 to 66 %") && month.utf8.count < 40_000, "\(month.utf8.count)")
  }
}
