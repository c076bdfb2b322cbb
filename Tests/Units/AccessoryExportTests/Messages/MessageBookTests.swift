// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessoryExport

struct MessageBookTests {
  private static let alarm = AccessoryAlarm(name: "low", rule: "battery < 20 %", since: 100, value: "12 %")
  private static let hourly = MessageWay("phone", .ntfy(url: "https://ntfy.sh/x"), repetition: .seconds(3_600))

  private static func raised(_ ways: [String] = ["phone"], at now: Double = 100) -> MessageBook {
    var book = MessageBook()
    book.raise(alarm, accessory: "A", name: "Pack", service: "/s", ways: ways, at: now)
    return book
  }

  private static func states(_ book: MessageBook) -> [AlarmMessage.State] { book.waiting.map(\.message.state) }

  private static func next(_ book: inout MessageBook, by way: String = "phone", at now: Double) -> WaitingMessage? {
    book.next(of: way, at: now)
  }

  private static func dropped(_ book: inout MessageBook) -> Int { book.takeDropped() }

  @Test func anAlarmIsToldOnceWhenRaisedAndOnceWhenCleared() throws {
    var book = Self.raised(["phone", "me"])
    book.raise(Self.alarm, accessory: "A", name: "Pack", service: "/s", ways: ["phone", "me"], at: 110)
    #expect(Self.states(book) == [.raised, .raised])
    #expect(Set(book.waiting.map(\.way)) == ["phone", "me"])
    for way in ["phone", "me"] { book.finished(try #require(Self.next(&book, by: way, at: 110)), at: 110) }
    book.clear(Self.alarm, accessory: "A", service: "/s", at: 200)
    book.clear(Self.alarm, accessory: "A", service: "/s", at: 201)
    #expect(Self.states(book) == [.cleared, .cleared])
    // Nobody was told of this one.
    book.clear(Self.alarm, accessory: "B", service: "/s", at: 202)
    #expect(book.waiting.count == 2)
  }

  @Test func itIsRepeatedWhereAsked() throws {
    var book = Self.raised()
    book.finished(try #require(Self.next(&book, at: 100)), at: 100)
    #expect(book.deadline(ways: [Self.hourly], at: 100) == 3_700)
    book.timePassed(3_699, ways: [Self.hourly])
    #expect(book.waiting.isEmpty)
    book.timePassed(3_700, ways: [Self.hourly])
    #expect(Self.states(book) == [.still])
    // While the way fails, only the last repetition waits.
    book.timePassed(7_300, ways: [Self.hourly])
    book.timePassed(10_900, ways: [Self.hourly])
    #expect(Self.states(book) == [.still] && book.waiting[0].message.time == 10_900)
    // The clock is set back by years: the next repetition comes an hour later.
    book.timePassed(50, ways: [Self.hourly])
    #expect(book.waiting.count == 1)
    book.timePassed(3_650, ways: [Self.hourly])
    #expect(book.waiting.count == 1 && book.waiting[0].message.time == 3_650)
    #expect(
      book.deadline(ways: [MessageWay("phone", .ntfy(url: "https://ntfy.sh/x"))], at: 50) == 0, "it waits to be sent")
  }

  @Test func aRestartOfTheServiceRepeatsNothingAndForgetsNothing() {
    var book = Self.raised()
    book.begin(service: "/s", at: 200)
    book.raise(Self.alarm, accessory: "A", name: "Pack", service: "/s", ways: ["phone"], at: 210)
    book.timePassed(5_000, ways: [])
    #expect(Self.states(book) == [.raised])
    // The next service doesn't raise it again: after a while it is over.
    book.begin(service: "/other", at: 5_000)
    book.begin(service: "/s", at: 6_000)
    book.timePassed(6_899, ways: [])
    #expect(Self.states(book) == [.raised])
    #expect(book.deadline(ways: [], at: 6_899) == 6_900)
    book.timePassed(6_900, ways: [])
    #expect(Self.states(book) == [.cleared], "nothing was sent yet, so both are one message")
    #expect(book.deadline(ways: [], at: 6_900) == nil)
  }

  @Test func failuresMakeThePausesLonger() throws {
    var book = Self.raised()
    var now = 100.0
    var pauses: [Double] = []
    for _ in 0..<9 {
      let next = try #require(Self.next(&book, at: now))
      pauses.append(book.failed(next, at: now))
      #expect(Self.next(&book, at: now + pauses[pauses.count - 1] - 1) == nil)
      now += pauses[pauses.count - 1]
    }
    #expect(pauses == [10, 30, 60, 120, 300, 600, 900, 900, 900])
    #expect(book.isFailing("phone"))
    book.finished(try #require(Self.next(&book, at: now)), at: now)
    #expect(!book.isFailing("phone") && book.waiting.isEmpty)
    // The clock was set back while the way waited.
    book.clear(Self.alarm, accessory: "A", service: "/s", at: now)
    _ = book.failed(try #require(Self.next(&book, at: now)), at: now)
    #expect(Self.next(&book, at: 50) != nil)
  }

  @Test func theQueueIsBounded() {
    var book = MessageBook()
    for number in 0..<300 {
      let alarm = AccessoryAlarm(name: "a\(number)", rule: "fault", since: 1)
      book.raise(alarm, accessory: "A", name: "A", service: "/s", ways: ["phone"], at: Double(number))
    }
    #expect(book.waiting.count == MessageBook.waitingLimit)
    #expect(book.waiting.first?.message.alarm.name == "a44", "the oldest are dropped")
    #expect(Self.dropped(&book) == 44)
    #expect(Self.dropped(&book) == 0)
    #expect(Self.next(&book, at: MessageBook.patience + 100)?.message.alarm.name == "a100")
    #expect(Self.dropped(&book) == 56)
    book.keep(ways: ["other"])
    #expect(book.waiting.isEmpty)
  }

  @Test func itIsReadBackFromDisk() throws {
    var book = Self.raised()
    _ = book.failed(try #require(Self.next(&book, at: 100)), at: 100)
    let bytes = try JSON(encoding: book).bytes
    #expect(try JSON(bytes).decoded(as: MessageBook.self) == book)
    #expect(book.isSane)
    for end in stride(from: 0, to: bytes.count, by: 3) {
      #expect((try? JSON(Array(bytes[..<end])).decoded(as: MessageBook.self)) == nil)
    }
  }

  // MARK: - The notifier

  private static func device() -> Device {
    Device(.terminal("/dev/ttyX"), source: .udev, serialNumber: "A")
  }

  private static func notifier(
    _ clock: ManualClock, _ sent: Watched<[String]>, log: Watched<[String]> = Watched([]), file: StateFile? = nil,
    outcome: @escaping @Sendable (Int) -> MessageOutcome = { _ in .sent }
  ) -> AlarmNotifier {
    let count = Watched(0)
    return AlarmNotifier(
      [hourly, MessageWay("me", .mail(to: "a@b", from: nil))], file: file, clock: clock,
      wallClock: { 1e9 + Double(clock.now.nanoseconds) / 1e9 },
      log: { line in
        switch line {
        case .info: break
        case .notice(let text), .warning(let text): log.update { $0.append(text) }
        }
      }, choose: { alarm, _, _, _ in alarm == "quiet" ? [] : ["phone"] },
      send: { message, way in
        count.update { $0 += 1 }
        let outcome = outcome(count.value)
        sent.update { $0.append("\(way.name) \(message.state.rawValue) \(outcome == .sent)") }
        return outcome
      })
  }

  @Test func aWayThatFailsIsTriedAgainUntilItWorks() async throws {
    let (clock, sent, log) = (ManualClock(), Watched<[String]>([]), Watched<[String]>([]))
    let notifier = Self.notifier(clock, sent, log: log) { $0 < 3 ? .failed("away") : .sent }
    try await notifier.open()
    await notifier.take(.event(.alarm(Self.device(), Self.alarm, .raised)), of: "/s")
    await notifier.take(
      .event(.alarm(Self.device(), AccessoryAlarm(name: "quiet", rule: "fault", since: 1), .raised)), of: "/s")
    try await sent.wait { $0.count == 1 }
    for count in [2, 3] {
      try await eventually("a timer") { clock.pendingCount > 0 }
      clock.advance(by: .seconds(40))
      try await sent.wait { $0.count == count }
    }
    #expect(sent.value == ["phone raised false", "phone raised false", "phone raised true"])
    try await log.wait { $0.count == 2 }
    #expect(log.value[0].contains("away") && log.value[1].contains("sent again"), "each is told once")
    try await eventually("an empty queue") { await notifier.waitingCount == 0 }
    // An hour later it is told again.
    try await eventually("a timer") { clock.pendingCount > 0 }
    clock.advance(by: .seconds(3_601))
    try await sent.wait { $0.last == "phone still true" }
  }

  @Test func whatWaitsOutlivesARestart() async throws {
    let directory = try TemporaryDirectory()
    let (clock, sent) = (ManualClock(), Watched<[String]>([]))
    let first = Self.notifier(clock, sent, file: StateFile("messages", in: directory.path + "/s")) { _ in
      .failed("away")
    }
    try await first.open()
    await first.take(.event(.alarm(Self.device(), Self.alarm, .raised)), of: "/s")
    try await sent.wait { $0.count == 1 }
    var bytes: [UInt8] = []
    try await eventually("what waits is on disk") {
      bytes = (try? StateFile("messages", in: directory.path + "/s").read(limit: 1 << 20)) ?? []
      return String(decoding: bytes, as: UTF8.self).contains("battery < 20")
    }
    // The first one's lock is still there: two programs would tell everything twice.
    let second = Self.notifier(clock, sent, file: StateFile("messages", in: directory.path + "/s"))
    await #expect(throws: AccessoryError.self) { try await second.open() }
    let copy = try TemporaryDirectory()
    let file = StateFile("messages", in: copy.path + "/s")
    try file.prepare()
    try file.replace(bytes)
    // With a clock of its own: the first one still tries, too.
    let later = ManualClock()
    let third = Self.notifier(later, sent, file: file)
    try await third.open()
    // The pause after the failure may be kept, too.
    try await eventually("a try, or a timer") { sent.value.count > 1 || later.pendingCount > 0 }
    later.advance(by: .seconds(11))
    try await sent.wait { $0.last == "phone raised true" }
    // The service says again that it is raised.
    await third.take(.event(.alarm(Self.device(), Self.alarm, .raised)), of: "/s")
    #expect(sent.value.count == 2)
  }
}
