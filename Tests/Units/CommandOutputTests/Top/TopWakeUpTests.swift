// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import CommandOutput

@Suite struct TopWakeUpTests {
  private let now = TopSample.now

  @Test func agesAreRoundedDown() {
    let texts: [(Int, String)] = [
      (-5, "now"), (0, "now"), (9, "now"), (10, "10s"), (59, "50s"), (60, "1m"), (3_599, "59m"), (3_600, "1h"),
      (172_799, "47h"), (172_800, "2d"), (86_399_999, "999d"), (86_400_000, "old"),
    ]
    for (seconds, text) in texts { #expect(AgeText.text(.seconds(seconds)) == text) }
  }

  /// The text changes exactly when it is said to.
  @Test(arguments: [0, 3, 9, 10, 55, 61, 3_599, 3_601, 100_000, 200_000])
  func anAgesTextChangesExactlyWhenSaid(seconds: Int) throws {
    let age = Duration.milliseconds(seconds * 1_000 + 137)
    let change = try #require(AgeText.untilChange(age))
    #expect(AgeText.text(age + change) != AgeText.text(age))
    #expect(AgeText.text(age + change - .milliseconds(1)) == AgeText.text(age))
  }

  @Test func theNextDrawingWaitsForTheNextChange() {
    #expect(AgeText.nextDrawing([], now: now) == nil)
    #expect(AgeText.nextDrawing([.seconds(90_000_000)], now: now) == nil)
    #expect(AgeText.nextDrawing([.seconds(2)], now: now) == now + .seconds(10), "8 s, put off to 10 s")
    // A hundred readings of the last minute are drawn at most every five seconds.
    let many = (0..<100).map { Duration.milliseconds($0 * 600) }
    #expect(AgeText.nextDrawing(many, now: now) == now + .seconds(5))
    // Older ones each half minute, or much more rarely.
    #expect((AgeText.nextDrawing((2..<50).map { .seconds($0 * 61) }, now: now) ?? now) - now <= .seconds(60))
    #expect((AgeText.nextDrawing([.seconds(3_601)], now: now) ?? now) - now > .seconds(3_590))
    #expect(AgeText.nextDrawing([.seconds(1)], now: MonotonicTime(nanoseconds: .max)) != nil)
  }

  @Test func screensSayWhenTheyChange() {
    let screen = TopScreen(TopGlyphs(isASCII: false))
    var model = TopSample.model([TopSample.row("a", age: nil), TopSample.row("b", age: nil)])
    #expect(screen.draw(&model, columns: 80, rows: 24, now: now).next == nil)
    // An age that isn't shown doesn't matter.
    for index in 0..<100 { model.put(TopSample.row("m\(index)", age: nil)) }
    model.put(TopSample.row("z", age: .seconds(1)))
    #expect(screen.draw(&model, columns: 80, rows: 24, now: now).next == nil)
    _ = model.press(.end)
    #expect(screen.draw(&model, columns: 80, rows: 24, now: now).next == now + .seconds(10))
    _ = model.press(.character(" "))
    #expect(screen.draw(&model, columns: 80, rows: 24, now: now).next == nil, "paused")
    _ = model.press(.character(" "))
    _ = model.press(.function(1))
    #expect(screen.draw(&model, columns: 80, rows: 24, now: now).next == nil, "the help has no ages")
  }

  /// However many news come, they are drawn ten times a second; and not at all when there are none.
  @Test func newsAreDrawnTenTimesASecond() {
    var wakeUps = TopWakeUps()
    var time = now
    var drawings = 0
    for _ in 0..<8_000 {
      wakeUps.news()
      if wakeUps.work(at: time) == .draw {
        drawings += 1
        wakeUps.drew(at: time, change: nil)
      }
      time = time + .microseconds(125)
    }
    #expect((9...11).contains(drawings))
    #expect(wakeUps.next == nil || wakeUps.hasNews)
    wakeUps.drew(at: time, change: nil)
    #expect(wakeUps.next == nil && wakeUps.work(at: time + .seconds(1_000_000)) == .nothing)
  }

  @Test func agesAreAskedForWhenTheyChange() {
    var wakeUps = TopWakeUps()
    wakeUps.drew(at: now, change: now + .seconds(10))
    #expect(wakeUps.next == now + .seconds(10))
    #expect(wakeUps.work(at: now + .seconds(9)) == .nothing)
    #expect(wakeUps.work(at: now + .seconds(10)) == .refresh)
    wakeUps.refreshing()
    #expect(wakeUps.next == nil && wakeUps.work(at: now + .seconds(60)) == .nothing)
    wakeUps.refreshed()
    #expect(wakeUps.work(at: now + .seconds(11)) == .draw)
  }

  @Test func samplesOfAGraphAreBounded() {
    var samples = TopSamples()
    for index in 0..<10_000 { samples.note(TopSample.row("a", percent: index % 100), at: Double(index)) }
    let series = samples.series(of: TopSample.key("a"), now: 10_000)
    #expect((series?.points.count ?? 0) <= TopSamples.limit && series?.points.last?.end == 10_000)
    #expect(series?.last?.mean == 99)
    // A clock that goes back adds nothing.
    samples.note(TopSample.row("a", percent: 1), at: 5)
    #expect(samples.series(of: TopSample.key("a"), now: 10)?.last?.mean == 99)
    samples.forget(TopSample.key("a"))
    #expect(samples.series(of: TopSample.key("a"), now: 1) == nil)
  }
}
