// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink

/// One request after another, in two framings.
@Suite struct StopAndWaitTests {
  @Test func requestsOfAFrameExchangeWaitForEachOther() {
    check(BinaryDialect.self)
    check(LineDialect.self)
    func check<Dialect: FrameDialect>(_ dialect: Dialect.Type) {
      var harness = FrameHarness(dialect)
      let ids = ["battery", "status", "name"].map { harness.ask($0) }
      #expect(harness.takeSent() == ["?0 battery"])
      harness.say("=", 0, "battery 57")
      #expect(harness.takeSent() == ["?0 status"])
      harness.say("=", 0, "status idle")
      harness.say("=", 0, "name it")
      #expect(ids.map { harness.reply($0) } == ["battery 57", "status idle", "name it"])
      #expect(harness.completed == ids && harness.events.isEmpty && harness.exchange.deadline == nil)
      #expect(harness.counters.requests == 3 && harness.counters.replies == 3)
    }
  }

  @Test func aWindowNeedsNumbers() {
    var harness = FrameHarness(LineDialect.self) { $0.pacing = .window(4) }
    for text in ["battery", "status"] { harness.ask(text) }
    #expect(harness.takeSent() == ["?0 battery"])
  }

  @Test func aRefusedRequestLetsTheNextOneGo() {
    check(BinaryDialect.self)
    check(LineDialect.self)
    func check<Dialect: FrameDialect>(_ dialect: Dialect.Type) {
      var harness = FrameHarness(dialect)
      let ids = ["battery", "status"].map { harness.ask($0) }
      harness.say("!", 0, "battery")
      #expect(
        harness.error(ids[0])
          == AccessoryError(.refused, code: .refusal(7), "gadget refuses BATTERY: it is tired"))
      #expect(harness.takeSent() == ["?0 battery", "?0 status"])
      #expect(harness.counters.refusals == 1 && harness.counters.replies == 1)
    }
  }

  @Test func onlyWhatMayRunTwiceIsSentAgain() {
    var harness = FrameHarness(BinaryDialect.self)
    let battery = harness.ask("battery")
    let reset = harness.ask("reset", isIdempotent: false)
    harness.advance(.milliseconds(1_499))
    #expect(harness.takeSent() == ["?0 battery", "?0 battery", "?0 battery"])
    harness.advance(.milliseconds(1))
    #expect(
      harness.error(battery) == AccessoryError(.timedOut, "gadget does not answer BATTERY, which was sent 3 times"))
    harness.advance(.milliseconds(500))
    #expect(harness.takeSent() == ["?0 reset"])
    #expect(harness.error(reset) == AccessoryError(.timedOut, "gadget does not answer RESET, which was sent once"))
    #expect(harness.counters.retries == 2 && harness.counters.timeouts == 4 && harness.exchange.deadline == nil)
  }

  @Test func timeLimitsAddTheTimeOfTheLine() {
    var harness = FrameHarness(BinaryDialect.self) { $0.largestReply = 95 }
    harness.host.exchange.setTiming(LineTiming(perByte: .milliseconds(1)))
    let id = harness.ask("x", isIdempotent: false, timeout: .seconds(2))  // 6 bytes
    harness.advance(.milliseconds(2_100))
    #expect(harness.error(id) == nil)
    harness.advance(.milliseconds(1))
    #expect(harness.error(id)?.kind == .timedOut)
  }

  @Test func theLongestAndNegativeTimeLimitsWork() {
    var harness = FrameHarness(BinaryDialect.self) { $0.largestReply = .max }
    let never = harness.ask("never", timeout: .seconds(Int64.max))
    harness.advance(.seconds(86_400))
    #expect(harness.results[never] == nil && harness.exchange.deadline == MonotonicTime(nanoseconds: .max))
    harness.say("=", 0, "never")
    let negative = harness.ask("negative", timeout: .seconds(-1))
    harness.advance(.zero)
    #expect(harness.error(negative)?.kind == .timedOut)
  }

  /// The answer lies behind the beginning of a frame that never came to its end.
  @Test func anAnswerBehindHalfAFrameIsFound() {
    var harness = FrameHarness(BinaryDialect.self)
    let id = harness.ask("battery")
    harness.deliver(Array(BinaryDialect.encoded(Said("*", 0, "a long text that is cut short")).prefix(6)))
    harness.say("=", 0, "battery 57")
    #expect(harness.results[id] == nil)
    harness.advance(.milliseconds(500))
    #expect(harness.reply(id) == "battery 57" && harness.counters.timeouts == 0)
  }

  // MARK: - Too late

  @Test func oneLateReplyPerTryIsCounted() {
    check(BinaryDialect.self)
    check(LineDialect.self)
    func check<Dialect: FrameDialect>(_ dialect: Dialect.Type) {
      var harness = FrameHarness(dialect) { $0.tries = 2 }
      harness.ask("battery")
      harness.advance(.seconds(1))
      // One to each try, and the third is news.
      for _ in 0..<3 { harness.say("=", 0, "battery 57") }
      #expect(harness.counters.lateReplies == 2 && harness.told == ["=0 battery 57"])
      #expect(harness.completed.count == 1)
    }
  }

  @Test func aSecondReplyToARepeatedRequestIsADuplicate() {
    var harness = FrameHarness(BinaryDialect.self)
    let id = harness.ask("battery")
    harness.advance(.milliseconds(500))
    for _ in 0..<3 { harness.say("=", 0, "battery 57") }
    #expect(harness.reply(id) == "battery 57" && harness.completed == [id])
    #expect(harness.counters.duplicates == 1 && harness.told == ["=0 battery 57"])
  }

  @Test func whatIsLateIsForgottenInTime() {
    var harness = FrameHarness(BinaryDialect.self) { $0.tries = 1 }
    harness.ask("battery")
    harness.advance(.milliseconds(10_500))
    harness.say("=", 0, "battery 57")
    #expect(harness.counters.lateReplies == 0 && harness.told == ["=0 battery 57"])
  }

  // MARK: - Cancelled

  /// Nothing tells the reply to what was cancelled from the reply to the next request of its kind: that waits.
  @Test func aCancelledRequestKeepsTheLine() {
    var harness = FrameHarness(BinaryDialect.self)
    let first = harness.ask("register")
    let second = harness.ask("register")
    harness.cancel(first)
    #expect(harness.error(first)?.kind == .cancelled)
    #expect(harness.takeSent() == ["?0 register"])
    harness.say("=", 0, "register 1")
    #expect(harness.results[second] == nil && harness.takeSent() == ["?0 register"])
    harness.say("=", 0, "register 2")
    #expect(harness.reply(second) == "register 2" && harness.completed == [first, second])
    #expect(harness.counters.lateReplies == 1 && harness.counters.replies == 1 && harness.events.isEmpty)
  }

  @Test func aCancelledRequestIsNotSentAgain() {
    var harness = FrameHarness(BinaryDialect.self)
    let first = harness.ask("register")
    let second = harness.ask("status")
    harness.cancel(first)
    harness.cancel(first)
    harness.advance(.milliseconds(499))
    #expect(harness.takeSent() == ["?0 register"])
    harness.advance(.milliseconds(1))
    #expect(harness.takeSent() == ["?0 status"])  // and the first isn't sent again
    harness.say("=", 0, "register 1")
    harness.say("=", 0, "status idle")
    #expect(harness.reply(second) == "status idle" && harness.completed == [first, second])
    #expect(harness.counters.lateReplies == 1 && harness.events.isEmpty)
  }

  @Test func aRequestThatWaitsIsCancelled() {
    var harness = FrameHarness(BinaryDialect.self)
    let ids = ["battery", "status", "name"].map { harness.ask($0) }
    harness.cancel(ids[1])
    harness.say("=", 0, "battery 57")
    #expect(harness.takeSent() == ["?0 battery", "?0 name"])
    #expect(harness.error(ids[1])?.kind == .cancelled && harness.completed == [ids[1], ids[0]])
  }

  // MARK: - Others

  @Test func eventsAndDamageDoNotDisturbARequest() {
    check(BinaryDialect.self)
    check(LineDialect.self)
    func check<Dialect: FrameDialect>(_ dialect: Dialect.Type) {
      var harness = FrameHarness(dialect)
      let id = harness.ask("battery")
      harness.say("*", 0, "button")
      harness.say("=", 0, "status idle")  // to nothing that was asked
      harness.deliver(Array(repeating: 0x41, count: 60) + [0x0A])
      #expect(harness.told == ["*0 button", "=0 status idle"] && harness.results[id] == nil)
      harness.say("=", 0, "battery 57")
      #expect(harness.reply(id) == "battery 57" && harness.counters.events == 2)
    }
  }

  /// What nothing answers is over when it is sent, in its turn.
  @Test func aRequestWithoutReplyEndsWhenSent() {
    var harness = FrameHarness(BinaryDialect.self)
    let ask = harness.ask("battery")
    let tell = harness.ask("beep", isAnswered: false)
    let last = harness.ask("status")
    #expect(harness.results[tell] == nil)
    harness.say("=", 0, "battery 57")
    #expect(harness.takeSent() == ["?0 battery", "?0 beep", "?0 status"])
    #expect(harness.completed == [ask, tell] && harness.error(tell) == nil && harness.results[last] == nil)
  }

  @Test func aRequestThatCannotBeSentIsMisconfigured() {
    check(BinaryDialect.self, text: String(repeating: "x", count: 41))
    check(LineDialect.self, text: "two\nlines")
    func check<Dialect: FrameDialect>(_ dialect: Dialect.Type, text: String) {
      var harness = FrameHarness(dialect)
      let ids = ["battery", text, "status"].map { harness.ask($0) }
      harness.say("=", 0, "battery 57")
      #expect(harness.error(ids[1])?.kind == .misconfigured)
      #expect(harness.error(ids[1])?.message.contains("can't be sent to gadget") == true)
      #expect(harness.takeSent() == ["?0 battery", "?0 status"])
      #expect(harness.counters.requests == 2)
    }
  }

  @Test func everythingFailsOnceAtTheEnd() {
    var harness = FrameHarness(BinaryDialect.self)
    let ids = ["battery", "status", "name"].map { harness.ask($0) }
    harness.cancel(ids[0])
    let gone = AccessoryError.disconnected("gadget")
    harness.end(gone)
    harness.end(.closed("gadget"))
    #expect(harness.completed == ids && harness.error(ids[1]) == gone && harness.error(ids[2]) == gone)
    let late = harness.ask("battery")
    #expect(harness.error(late) == gone && harness.exchange.deadline == nil)
    harness.cancel(ids[1])
    harness.advance(.seconds(60))
    let begun = harness.begin()
    #expect(harness.error(begun) == gone && harness.completed == ids + [late, begun])
  }
}
