// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Testing

@testable import BridgeService

/// The alarms of several accessories, and of those that come and go.
@Suite struct AlarmBookTests {
  private static let start = MonotonicTime(nanoseconds: 0)
  private static let readings = AlarmReadings(battery: BatteryReading(percent: 5))

  private static func device(_ id: String) -> Device {
    Device(id: id, path: "/dev/" + id, source: .udev)
  }

  private static func book(_ ids: [String], _ rules: String..., limit: Int = 8) throws -> AlarmBook {
    var book = AlarmBook(limit: limit)
    for id in ids { _ = book.watch(id, device(id), try rules.map { try AlarmRule($0) }, now: start) }
    return book
  }

  private static func texts(_ news: [AlarmBook.News]) -> [String] {
    news.map { "\($0.device.id) \($0.news.change) \($0.news.alarm.rule.name)" }
  }

  @Test func eachAccessoryHasItsOwn() throws {
    var book = try Self.book(["A", "B"], "battery < 10 %", "battery < 20 % for 1 min")
    #expect(Self.texts(book.take("A", Self.readings, now: Self.start, wallClock: 1)) == ["A raised battery < 10 %"])
    #expect(book.raised("A").map(\.since) == [1] && book.raised("B").isEmpty && book.raised("C").isEmpty)
    #expect(book.deadline == Self.start + .seconds(60))
    let news = book.timePassed(now: Self.start + .seconds(60), wallClock: 61)
    #expect(Self.texts(news) == ["A raised battery < 20 %"])
    #expect(book.raised.map(\.key) == ["A", "A"] && book.deadline == nil)
  }

  /// A raised alarm stays when the accessory is gone, until it is read again; its silence counts on, and is over when it is heard again.
  @Test func silenceCountsOnWhileAnAccessoryIsAway() throws {
    var book = try Self.book(["A"], "battery < 10 %", "silent for 5 min")
    _ = book.take("A", Self.readings, now: Self.start, wallClock: 1)
    #expect(book.drop("A", isAway: true, now: Self.start).isEmpty)
    #expect(book.awaitsSilence && book.deadline == Self.start + .seconds(300))
    let later = Self.start + .seconds(300)
    #expect(Self.texts(book.timePassed(now: later, wallClock: 301)) == ["A raised silent for 5 min"])
    #expect(!book.awaitsSilence && book.raised("A").count == 2)
    let rules = [try AlarmRule("battery < 10 %"), try AlarmRule("silent for 5 min")]
    #expect(book.watch("A", Self.device("A"), rules, now: later).isEmpty)
    #expect(book.heard("A", now: later, wallClock: 302).isEmpty)
    #expect(Self.texts(book.heard("A", now: later + .seconds(30), wallClock: 332)) == ["A cleared silent for 5 min"])
    #expect(book.raised("A").map(\.since) == [1])
    let full = AlarmReadings(battery: BatteryReading(percent: 90))
    #expect(Self.texts(book.take("A", full, now: later, wallClock: 333)) == ["A cleared battery < 10 %"])
  }

  /// What was about to be raised when the accessory went isn't raised while nobody reads it.
  @Test func nothingIsRaisedOfAnAccessoryThatIsAway() throws {
    var book = try Self.book(["A"], "battery < 10 % for 1 min", "battery < 10 %")
    _ = book.take("A", Self.readings, now: Self.start, wallClock: 1)
    #expect(book.drop("A", isAway: true, now: Self.start).isEmpty)
    #expect(book.deadline == nil)
    #expect(book.timePassed(now: Self.start + .seconds(3_600), wallClock: 3_601).isEmpty)
    #expect(book.raised("A").map(\.rule.name) == ["battery < 10 %"])
    #expect(Self.texts(book.drop("A", isAway: false, now: Self.start)) == ["A cleared battery < 10 %"])
  }

  /// After the service's restart an alarm that was raised is raised already, and is told when it is over.
  @Test func anAlarmOfBeforeIsRaisedAlready() throws {
    let (low, fault) = (try AlarmRule("battery < 10 %"), try AlarmRule("fault"))
    var before = AlarmSet([low], now: Self.start)
    _ = before.take(Self.readings, now: Self.start, wallClock: 77)
    let raised = before.raised.map(AccessoryAlarm.init)
    var book = AlarmBook(limit: 10)
    #expect(book.watch("A", Self.device("A"), [fault, low], raised: raised, now: Self.start).isEmpty)
    #expect(book.raised("A").map(\.since) == [77])
    #expect(book.take("A", Self.readings, now: Self.start, wallClock: 80).isEmpty)
    let full = AlarmReadings(battery: BatteryReading(percent: 90))
    #expect(Self.texts(book.take("A", full, now: Self.start, wallClock: 81)) == ["A cleared battery < 10 %"])
    // Another rule of the same name is another alarm.
    let other = try AlarmRule("battery < 20 %")
    #expect(book.watch("B", Self.device("B"), [other], raised: raised, now: Self.start).isEmpty)
    #expect(book.raised("B").isEmpty)
  }

  @Test func lettingGoClearsAlarms() throws {
    var book = try Self.book(["A"], "battery < 10 %", "silent for 5 min")
    _ = book.take("A", Self.readings, now: Self.start, wallClock: 1)
    _ = book.timePassed(now: Self.start + .seconds(300), wallClock: 301)
    let news = book.drop("A", isAway: false, now: Self.start + .seconds(301))
    #expect(Self.texts(news) == ["A cleared battery < 10 %", "A cleared silent for 5 min"])
    #expect(!book.watches("A") && book.deadline == nil)
  }

  @Test func silenceDoesNotCountDuringALoan() throws {
    var book = try Self.book(["A"], "silent for 5 min")
    book.countSilence("A", false, now: Self.start)
    #expect(book.deadline == nil)
    book.countSilence("A", true, now: Self.start + .seconds(1_000))
    #expect(book.deadline == Self.start + .seconds(1_300))
    book.countSilence("A", true, now: Self.start + .seconds(1_200))
    #expect(book.deadline == Self.start + .seconds(1_300))
  }

  /// When there is no room, the memory of an accessory that is away goes first.
  @Test func theBookHoldsABoundedNumberOfAccessories() throws {
    var book = try Self.book(["A", "B"], "silent for 5 min", limit: 2)
    let rules = [try AlarmRule("silent for 5 min")]
    _ = book.watch("C", Self.device("C"), rules, now: Self.start)
    #expect(!book.watches("C"))
    _ = book.drop("A", isAway: true, now: Self.start)
    _ = book.watch("C", Self.device("C"), rules, now: Self.start)
    #expect(book.watches("C") && !book.watches("A") && book.watches("B"))
  }
}
