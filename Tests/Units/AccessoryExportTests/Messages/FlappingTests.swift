// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessoryExport

/// Accessories whose alarms come and go all the time, beside those that have something to say.
@Suite struct FlappingTests {
  private static func alarm(_ name: String = "low", since: Double = 0) -> AccessoryAlarm {
    AccessoryAlarm(name: name, rule: "battery < 20 %", since: since)
  }

  private static func raise(_ book: inout MessageBook, _ id: String, _ name: String = "low", at now: Double) {
    book.raise(alarm(name, since: now), accessory: id, name: id, service: "/s", ways: ["phone"], at: now)
  }

  private static func clear(_ book: inout MessageBook, _ id: String, _ name: String = "low", at now: Double) {
    book.clear(alarm(name), accessory: id, service: "/s", at: now)
  }

  /// Sends what is due; returns the accessories and states in order.
  private static func send(_ book: inout MessageBook, at now: Double) -> [AlarmMessage] {
    var sent: [AlarmMessage] = []
    while let next = book.next(of: "phone", at: now) {
      book.finished(next, at: now)
      sent.append(next.message)
    }
    return sent
  }

  private static func next(_ book: inout MessageBook, at now: Double) -> WaitingMessage? {
    book.next(of: "phone", at: now)
  }

  private static func dropped(_ book: inout MessageBook) -> Int { book.takeDropped() }

  private static func words(_ messages: [AlarmMessage]) -> [String] { messages.map { "\($0.accessory) \($0.state)" } }

  @Test func whatHappensWhileAWayFailsIsOneMessage() throws {
    var book = MessageBook()
    Self.raise(&book, "A", at: 0)
    _ = book.failed(try #require(Self.next(&book, at: 0)), at: 0)
    for second in stride(from: 1.0, to: 1_000, by: 2) {
      Self.clear(&book, "A", at: second)
      Self.raise(&book, "A", at: second + 1)
    }
    #expect(book.waiting.count == 1 && Self.dropped(&book) == 0)
    let message = try #require(Self.send(&book, at: 1_001).first)
    #expect(message.state == .raised && message.times == 501)
    #expect(message.title == "Alarm: A: low, flaps: raised 501 times")
    #expect(message.text.contains("it was raised 501 times within 16 min"))
  }

  @Test func anAlarmThatWasOverBeforeItCouldBeToldIsOneMessage() throws {
    var book = MessageBook()
    Self.raise(&book, "A", at: 100)
    Self.clear(&book, "A", at: 400)
    let messages = Self.send(&book, at: 400)
    #expect(Self.words(messages) == ["A cleared"])
    #expect(messages[0].text.contains("it was raised for"))
  }

  @Test func anEndAndANewBeginningCancelOut() {
    var book = MessageBook()
    Self.raise(&book, "A", at: 0)
    #expect(Self.words(Self.send(&book, at: 0)) == ["A raised"])
    Self.clear(&book, "A", at: 1)
    Self.raise(&book, "A", at: 2)
    #expect(book.waiting.isEmpty && Self.send(&book, at: 2).isEmpty, "people know that it is raised")
    Self.clear(&book, "A", at: 3)
    #expect(Self.words(Self.send(&book, at: 3)) == ["A cleared"])
  }

  @Test func whatIsBeingSentIsNotChanged() throws {
    var book = MessageBook()
    Self.raise(&book, "A", at: 0)
    let first = try #require(Self.next(&book, at: 0))
    Self.clear(&book, "A", at: 1)
    #expect(Self.states(book) == [.raised, .cleared])
    // It fails: then both are one message.
    _ = book.failed(first, at: 2)
    #expect(Self.states(book) == [.cleared])
    Self.raise(&book, "A", at: 3)
    let second = try #require(Self.next(&book, at: 20))
    Self.clear(&book, "A", at: 21)
    book.finished(second, at: 22)
    #expect(Self.states(book) == [.cleared])
  }

  private static func states(_ book: MessageBook) -> [AlarmMessage.State] { book.waiting.map(\.message.state) }

  @Test func aFlappingAccessoryIsToldAtAPace() throws {
    var book = MessageBook()
    var sent: [AlarmMessage] = []
    for number in 0..<1_500 {
      let now = Double(number) * 0.02
      if number.isMultiple(of: 2) { Self.raise(&book, "A", at: now) } else { Self.clear(&book, "A", at: now) }
      sent += Self.send(&book, at: now)
    }
    // The first time that it is raised and over, and six more; the last one says that the next ones wait.
    #expect(sent.count == 8)
    #expect(sent.last?.text.contains("every 5 min at most") == true)
    #expect(sent.dropLast().allSatisfy { $0.isLimited == nil })
    let due = try #require(book.deadline(ways: [MessageWay("phone", .run(program: "/x"))], at: 30))
    #expect(due > 290 && due < 320)
    let later = Self.send(&book, at: due + 1)
    #expect(later.count == 1 && later[0].times == 746)
    // After half an hour of rest all is as at first.
    Self.raise(&book, "A", at: 5_000)
    book.timePassed(5_000, ways: [])
    #expect(Self.words(Self.send(&book, at: 5_000)) == ["A raised"])
    #expect(book.paces.count == 1)
  }

  @Test func eachAlarmOfAnAccessoryIsToldAtOnce() {
    var book = MessageBook()
    for number in 0..<32 { Self.raise(&book, "A", "a\(number)", at: 0) }
    #expect(Self.send(&book, at: 0).count == 32)
    for number in 0..<32 { Self.clear(&book, "A", "a\(number)", at: 1) }
    #expect(Self.send(&book, at: 1).count == 32)
  }

  @Test func theFirstWordOfAnotherAccessoryComesNext() {
    var book = MessageBook()
    for number in 0..<100 { Self.raise(&book, "F\(number)", at: 0) }
    for _ in 0..<50 { if let next = book.next(of: "phone", at: 1) { book.finished(next, at: 1) } }
    for number in 0..<100 { Self.clear(&book, "F\(number)", at: 2) }
    Self.raise(&book, "GOOD", at: 3)
    #expect(Self.words(Self.send(&book, at: 4)).first == "GOOD raised")
  }

  @Test func accessoriesTakeTurns() {
    var book = MessageBook()
    for id in ["A", "B"] {
      Self.raise(&book, id, at: 0)
      Self.raise(&book, id, "hot", at: 0)
    }
    #expect(Self.words(Self.send(&book, at: 0)) == ["A raised", "B raised", "A raised", "B raised"])
    for id in ["A", "B"] {
      Self.clear(&book, id, at: 1)
      Self.clear(&book, id, "hot", at: 1)
    }
    #expect(Self.words(Self.send(&book, at: 1)) == ["A cleared", "B cleared", "A cleared", "B cleared"])
  }

  @Test func whoHasMostLosesWhatIsTooMuch() {
    var book = MessageBook()
    Self.raise(&book, "GOOD", at: 0)
    for number in 0..<300 { Self.raise(&book, "A", "a\(number)", at: 1) }
    #expect(Self.dropped(&book) == 45)
    #expect(book.waiting.contains { $0.message.accessory == "GOOD" })
    // Each way has a queue of its own.
    book.raise(Self.alarm("x"), accessory: "B", name: "B", service: "/s", ways: ["mail"], at: 2)
    #expect(Self.dropped(&book) == 0)
  }

  @Test func aBookOfTheFirstVersionIsRead() throws {
    let old = """
      {"told":[{"service":"/s","accessory":"A","message":{"state":"raised","accessory":"A","name":"A","alarm":{"name":"low",\
      "rule":"battery < 20 %","since":1},"time":5},"ways":{"phone":5}}],"waiting":[{"number":1,"way":"phone","message":\
      {"state":"raised","accessory":"A","name":"A","alarm":{"name":"low","rule":"battery < 20 %","since":1},"time":1}},\
      {"number":2,"way":"phone","message":{"state":"cleared","accessory":"A","name":"A","alarm":{"name":"low","rule":\
      "battery < 20 %","since":1},"time":2}},{"number":3,"way":"phone","message":{"state":"raised","accessory":"A","name":"A",\
      "alarm":{"name":"low","rule":"battery < 20 %","since":1},"time":5}}],"failures":{"phone":{"count":1,"next":20}},\
      "lastNumber":3,"dropped":0}
      """
    var book = try JSON(Array(old.utf8)).decoded(as: MessageBook.self)
    #expect(book.isSane)
    book.keep(ways: ["phone"])
    #expect(book.waiting.map(\.message.state) == [.raised])
    #expect(Self.send(&book, at: 10).isEmpty, "the pause after the failure is kept")
    #expect(Self.send(&book, at: 20).map(\.times) == [2])
    Self.clear(&book, "A", at: 30)
    #expect(Self.words(Self.send(&book, at: 30)) == ["A cleared"])
    let again = try JSON(try JSON(encoding: book.kept).bytes).decoded(as: MessageBook.self)
    // The first version didn't say of which service an accessory is.
    #expect(again == book.kept && again.paces.count == 2)
  }

  // MARK: - The notifier

  private static let device = Device(.terminal("/dev/ttyX"), source: .udev, serialNumber: "A")

  /// A way that hangs, and one that works.
  @Test func aWayThatHangsHoldsUpNoOther() async throws {
    let (clock, sent) = (ManualClock(), Watched<[String]>([]))
    let release = OneShot<Void>()
    let notifier = AlarmNotifier(
      [MessageWay("slow", .run(program: "/x")), MessageWay("fast", .run(program: "/y"))], file: nil, clock: clock,
      wallClock: { 1e9 }, log: { _ in }, choose: { _, _, _, _ in nil },
      send: { message, way in
        if way.name == "slow" { await release.value() }
        sent.update { $0.append("\(way.name) \(message.state)") }
        return .sent
      })
    for change in [AlarmChange.raised, .cleared, .raised] {
      await notifier.take(.event(.alarm(Self.device, Self.alarm(), change)), of: "/s")
    }
    try await sent.wait { $0.count >= 1 && $0.allSatisfy { $0.hasPrefix("fast") } }
    release.finish()
    try await sent.wait { $0.contains("slow raised") }
  }

  /// How often the file is written while an alarm comes and goes: at once, and then at a pace.
  @Test func theFileIsSavedAtAPace() async throws {
    let (clock, directory) = (ManualClock(), try TemporaryDirectory())
    let file = StateFile("messages", in: directory.path + "/s")
    let notifier = AlarmNotifier(
      [MessageWay("phone", .run(program: "/x"))], file: file, clock: clock, wallClock: { 1e9 }, log: { _ in },
      choose: { _, _, _, _ in nil }, send: { _, _ in .failed("away") })
    try await notifier.open()
    func saved() -> String { String(decoding: (try? file.read(limit: 1 << 20)) ?? [], as: UTF8.self) }
    await notifier.take(.event(.alarm(Self.device, Self.alarm("first"), .raised)), of: "/s")
    try await eventually("the first alarm is on disk") { saved().contains("first") }
    // What comes just after it waits for the pace.
    await notifier.take(.event(.alarm(Self.device, Self.alarm("second"), .raised)), of: "/s")
    #expect(!saved().contains("second"))
    clock.advance(by: .seconds(6))
    try await eventually("the second alarm is on disk") { saved().contains("second") }
    let before = saved()
    for _ in 0..<100 {
      await notifier.take(.event(.alarm(Self.device, Self.alarm("second"), .cleared)), of: "/s")
      await notifier.take(.event(.alarm(Self.device, Self.alarm("second"), .raised)), of: "/s")
    }
    clock.advance(by: .seconds(6))
    #expect(saved() == before, "what has only changed within a message isn't worth a write")
    await notifier.close()
    #expect(saved() != before, "at the end all is saved")
  }
}
