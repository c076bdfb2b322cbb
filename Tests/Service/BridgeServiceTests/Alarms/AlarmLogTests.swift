// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryCore
@testable import BridgeService

/// The log's lines about alarms that come and go.
@Suite struct AlarmLogTests {
  private static let start = MonotonicTime(nanoseconds: 0)

  private static func news(_ id: String, _ change: AlarmChange) throws -> AlarmBook.News {
    let rule = try AlarmRule("battery < 50 %")
    return AlarmBook.News(
      device: Device(id: id, path: "/dev/" + id, source: .udev),
      news: AlarmSet.News(change: change, alarm: AlarmSet.Alarm(rule: rule, since: 1, value: nil)))
  }

  @Test func anAlarmThatFlapsHasSomeLinesAndThenOneAMinute() throws {
    var (log, lines) = (AlarmLog(), [AlarmLog.Line]())
    for number in 0..<1_500 {
      let now = Self.start + .milliseconds(Int64(number) * 20)
      let news = try Self.news("A", number.isMultiple(of: 2) ? .raised : .cleared)
      if let line = log.take(news, now: now) { lines.append(line) }
    }
    #expect(lines.count == 8)
    #expect(lines[0] == AlarmLog.Line(text: "A: alarm: battery < 50 %", isRaised: true))
    #expect(lines[1] == AlarmLog.Line(text: "A: alarm cleared: battery < 50 %", isRaised: false))
    let deadline = try #require(log.deadline)
    #expect(deadline > Self.start + .seconds(55) && deadline < Self.start + .seconds(65))
    // The last state has a line in any case.
    let last = log.timePassed(now: deadline + .milliseconds(1))
    #expect(
      last.map(\.text) == ["A: alarm cleared: battery < 50 %; it flaps: raised 746 times since the last line"])
    #expect(log.deadline == nil)
  }

  @Test func othersHaveTheirLines() throws {
    var log = AlarmLog()
    for number in 0..<100 {
      _ = log.take(try Self.news("A", number.isMultiple(of: 2) ? .raised : .cleared), now: Self.start)
    }
    let line = log.take(try Self.news("B", .raised), now: Self.start)
    #expect(line?.text == "B: alarm: battery < 50 %")
  }
}
