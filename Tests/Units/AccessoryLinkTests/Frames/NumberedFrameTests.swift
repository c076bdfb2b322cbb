// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink

/// Several requests at a time, told apart by their numbers, in two framings.
@Suite struct NumberedFrameTests {
  @Test func numberedFramesAreAnsweredInAnyOrder() {
    check(BinaryDialect.self)
    check(LineDialect.self)
    func check<Dialect: FrameDialect>(_ dialect: Dialect.Type) {
      var harness = FrameHarness(dialect, isNumbered: true, firstNumber: 254) { $0.pacing = .window(3) }
      let ids = ["a", "b", "a", "d"].map { harness.ask($0) }
      #expect(harness.takeSent() == ["?254 a", "?255 b", "?1 a"])
      harness.say("=", 1, "a third")
      #expect(harness.takeSent() == ["?2 d"])
      harness.say("=", 2, "d fourth")
      harness.say("!", 255, "b")
      harness.say("=", 254, "a first")
      #expect(harness.completed == [ids[2], ids[3], ids[1], ids[0]])
      #expect(harness.reply(ids[0]) == "a first" && harness.reply(ids[2]) == "a third")
      #expect(harness.error(ids[1])?.kind == .refused && harness.exchange.deadline == nil)
    }
  }

  /// As many as there are numbers, and a number that is in use is passed over.
  @Test func aNumberInUseIsPassedOver() {
    var harness = FrameHarness(BinaryDialect.self, isNumbered: true, numbers: 1...3) { $0.pacing = .window(9) }
    let slow = harness.ask("slow", timeout: .seconds(60))
    for text in ["b", "c", "d", "e"] { harness.ask(text) }
    #expect(harness.takeSent() == ["?1 slow", "?2 b", "?3 c"])
    harness.say("=", 2, "b")
    harness.say("=", 3, "c")
    #expect(harness.takeSent() == ["?2 d", "?3 e"])
    harness.say("=", 1, "slow but well")
    #expect(harness.reply(slow) == "slow but well")
  }

  @Test func numbersBeyondTheRangeBeginAnew() {
    var harness = FrameHarness(BinaryDialect.self, isNumbered: true, numbers: 5...6, firstNumber: 9)
    for _ in 0..<3 {
      harness.ask("a", isAnswered: false)
    }
    #expect(harness.takeSent() == ["?5 a", "?6 a", "?5 a"])
  }

  @Test func oneLostReplyIsRepeatedAloneWithItsNumber() {
    var harness = FrameHarness(BinaryDialect.self, isNumbered: true) { $0.pacing = .window(3) }
    let ids = ["a", "b", "c"].map { harness.ask($0) }
    _ = harness.takeSent()
    harness.say("=", 1, "a")
    harness.say("=", 3, "c")
    harness.advance(.milliseconds(500))
    #expect(harness.takeSent() == ["?2 b"])
    harness.say("=", 2, "b")
    #expect(ids.allSatisfy { harness.reply($0) != nil })
  }

  /// Who answers one after another has the time for each.
  @Test func eachReplyGivesTheOthersMoreTime() {
    var harness = FrameHarness(BinaryDialect.self, isNumbered: true) {
      $0.pacing = .window(3)
      $0.tries = 1
    }
    let ids = ["a", "b", "c"].map { harness.ask($0) }
    harness.advance(.milliseconds(400))
    harness.say("=", 1, "a")
    harness.advance(.milliseconds(400))
    harness.say("=", 2, "b")
    harness.advance(.milliseconds(499))
    #expect(harness.results[ids[2]] == nil)
    harness.advance(.milliseconds(1))
    #expect(harness.error(ids[2])?.kind == .timedOut)
  }

  /// What is lost ends, however much is asked and answered behind it.
  @Test func aLostOneEndsAllTheSame() {
    var harness = FrameHarness(BinaryDialect.self, isNumbered: true) {
      $0.pacing = .window(2)
      $0.tries = 1
    }
    let lost = harness.ask("lost")
    for number: UInt32 in 2...6 {
      harness.ask("a")
      harness.advance(.milliseconds(100))
      harness.say("=", number, "a")
    }
    #expect(harness.error(lost)?.kind == .timedOut)
  }

  @Test func lateAndDoubleRepliesAreCountedAndDropped() {
    var harness = FrameHarness(LineDialect.self, isNumbered: true) { $0.tries = 1 }
    harness.ask("a")
    harness.advance(.milliseconds(500))
    let id = harness.ask("a")
    for _ in 0..<3 { harness.say("=", 1, "a late") }
    #expect(harness.results[id] == nil && harness.counters.lateReplies == 3)
    for _ in 0..<3 { harness.say("=", 2, "a") }
    #expect(harness.reply(id) == "a" && harness.counters.duplicates == 2 && harness.events.isEmpty)
  }

  @Test func cancellingFreesThePlace() {
    var harness = FrameHarness(BinaryDialect.self, isNumbered: true)
    let first = harness.ask("a")
    let second = harness.ask("a")
    harness.cancel(first)
    #expect(harness.takeSent() == ["?1 a", "?2 a"])
    harness.say("=", 1, "a late")
    harness.say("=", 2, "a")
    #expect(harness.error(first)?.kind == .cancelled && harness.reply(second) == "a")
    #expect(harness.completed == [first, second] && harness.counters.lateReplies == 1)
  }
}
