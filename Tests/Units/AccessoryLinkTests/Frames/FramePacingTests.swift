// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink

/// When requests are sent, and what happens to those that wait.
@Suite struct FramePacingTests {
  @Test func aGapSeparatesRequests() {
    check(BinaryDialect.self)
    check(LineDialect.self)
    func check<Dialect: FrameDialect>(_ dialect: Dialect.Type) {
      var harness = FrameHarness(dialect) { $0.pacing = .gap(.milliseconds(125)) }
      let ids = ["a", "b", "c"].map { harness.ask($0) }
      for text in ["a", "b", "c"] {
        #expect(harness.takeSent() == ["?0 \(text)"])
        harness.say("=", 0, text)
        harness.advance(.milliseconds(124))
        #expect(harness.takeSent().isEmpty)
        harness.advance(.milliseconds(1))
      }
      #expect(harness.completed == ids && harness.exchange.deadline == nil)
    }
  }

  /// The gap passes behind what nothing answers, and behind a repeat, too.
  @Test func theGapFollowsUnansweredFramesAndRepeats() {
    var harness = FrameHarness(BinaryDialect.self) {
      $0.pacing = .gap(.milliseconds(700))
      $0.tries = 2
    }
    harness.ask("beep", isAnswered: false)
    harness.ask("a")
    #expect(harness.takeSent() == ["?0 beep"])
    harness.advance(.milliseconds(700))
    #expect(harness.takeSent() == ["?0 a"])
    harness.advance(.milliseconds(699))
    #expect(harness.takeSent().isEmpty)
    harness.advance(.milliseconds(1))
    #expect(harness.takeSent() == ["?0 a"])
    harness.ask("b")
    harness.say("=", 0, "a")
    harness.advance(.milliseconds(699))
    #expect(harness.takeSent().isEmpty)
    harness.advance(.milliseconds(1))
    #expect(harness.takeSent() == ["?0 b"])
  }

  @Test func framesWaitWhileTheTransportTakesNothing() {
    var harness = FrameHarness(BinaryDialect.self) { $0.pacing = .gap(.milliseconds(100)) }
    harness.block(true)
    let ids = ["a", "b"].map { harness.ask($0) }
    #expect(harness.takeSent().isEmpty && harness.exchange.deadline == nil)
    harness.advance(.seconds(10))
    harness.cancel(ids[0])
    #expect(harness.completed == [ids[0]] && harness.exchange.deadline == nil)
    harness.block(false)
    #expect(harness.takeSent() == ["?0 b"])
    harness.block(true)
    let next = harness.ask("c")
    harness.say("=", 0, "b")
    // The gap first, and then the transport.
    #expect(harness.exchange.deadline == harness.host.now + .milliseconds(100))
    harness.advance(.milliseconds(100))
    #expect(harness.takeSent().isEmpty && harness.exchange.deadline == nil)
    harness.block(false)
    #expect(harness.takeSent() == ["?0 c"] && harness.results[next] == nil)
  }

  /// Repeats don't pile up before a transport that takes nothing, and the request ends all the same.
  @Test func aBlockedTransportGetsNoRepeats() {
    var harness = FrameHarness(BinaryDialect.self)
    let id = harness.ask("a")
    harness.block(true)
    harness.advance(.milliseconds(1_500))
    #expect(harness.takeSent() == ["?0 a"] && harness.counters.retries == 0)
    #expect(harness.error(id) == AccessoryError(.timedOut, "gadget does not answer A, which was sent once"))
  }

  // MARK: - Overflow

  @Test func oneTooManyIsRefused() {
    check(BinaryDialect.self)
    check(LineDialect.self)
    func check<Dialect: FrameDialect>(_ dialect: Dialect.Type) {
      var harness = FrameHarness(dialect) { $0.queueLimit = 2 }
      let ids = ["a", "b", "c", "d"].map { harness.ask($0) }
      #expect(
        harness.error(ids[3])
          == AccessoryError(.busy, "2 requests wait for gadget already: try again later"))
      #expect(harness.completed == [ids[3]] && harness.counters.overflows == 0)
      for text in ["a", "b", "c"] { harness.say("=", 0, text) }
      #expect(harness.completed == [3, 0, 1, 2].map { ids[$0] })
    }
  }

  @Test func theOldestWaitingFrameIsDropped() {
    var harness = FrameHarness(BinaryDialect.self) {
      $0.queueLimit = 2
      $0.overflow = .dropOldest
    }
    let ids = ["a", "b", "c", "d"].map { harness.ask($0) }
    #expect(harness.error(ids[1])?.kind == .busy && harness.counters.overflows == 1)
    for text in ["a", "c", "d"] { harness.say("=", 0, text) }
    #expect(harness.takeSent() == ["?0 a", "?0 c", "?0 d"] && harness.completed == [1, 0, 2, 3].map { ids[$0] })
  }

  @Test func aLimitOfNothingIsOne() {
    var harness = FrameHarness(BinaryDialect.self) { $0.queueLimit = 0 }
    let ids = ["a", "b", "c"].map { harness.ask($0) }
    #expect(harness.completed == [ids[2]])
  }

  // MARK: - Contact

  private func opening(_ request: FrameRequest<HeaderBytes>, isNumbered: Bool = false) -> FrameHarness<BinaryDialect> {
    FrameHarness(BinaryDialect.exchange(.init(), isNumbered: isNumbered, opening: request))
  }

  @Test(arguments: [false, true]) func anOpeningMakesContactBeforeOtherRequests(isNumbered: Bool) {
    var harness = opening(BinaryDialect.request("hello"), isNumbered: isNumbered)
    let early = harness.ask("battery")
    #expect(harness.error(early)?.kind == .ioFailure)
    let contact = harness.begin()
    let number: UInt32 = isNumbered ? 1 : 0
    #expect(harness.takeSent() == ["?\(number) hello"])
    harness.say("*", 0, "button")
    #expect(harness.results[contact] == nil && harness.told == ["*0 button"])
    harness.say("=", number, "hello you")
    #expect(harness.reply(contact) == "hello you")
    harness.ask("battery")
    #expect(harness.takeSent() == ["?\(isNumbered ? 2 : 0) battery"])
  }

  @Test func anOpeningWithoutAnswerTimesOut() {
    var harness = opening(BinaryDialect.request("hello"))
    let contact = harness.begin()
    harness.advance(.milliseconds(1_500))
    #expect(harness.takeSent() == ["?0 hello", "?0 hello", "?0 hello"])
    #expect(harness.error(contact)?.kind == .timedOut && harness.exchange.deadline == nil)
    harness.say("=", 0, "hello")
    let next = harness.ask("battery")
    #expect(harness.counters.lateReplies == 1 && harness.error(next)?.kind == .ioFailure)
  }

  @Test func aRefusedOpeningFailsLaterQuestions() {
    var harness = opening(BinaryDialect.request("hello"))
    let contact = harness.begin()
    harness.say("!", 0, "hello")
    let next = harness.ask("battery")
    #expect(harness.error(contact)?.kind == .refused && harness.error(next)?.kind == .ioFailure)
  }

  @Test func aCancelledOpeningFailsLaterQuestions() {
    var harness = opening(BinaryDialect.request("hello"))
    let contact = harness.begin()
    harness.cancel(contact)
    harness.say("=", 0, "hello")
    #expect(harness.completed == [contact] && harness.error(contact)?.kind == .cancelled)
    let next = harness.ask("battery")
    #expect(harness.error(next)?.kind == .ioFailure && harness.counters.lateReplies == 1)
  }

  @Test func anEndFailsTheOpening() {
    var harness = opening(BinaryDialect.request("hello"))
    let contact = harness.begin()
    harness.end(.disconnected("gadget"))
    #expect(harness.completed == [contact] && harness.error(contact)?.kind == .disconnected)
  }

  @Test func anOpeningWithoutReplyMakesContactAtOnce() {
    var harness = opening(BinaryDialect.request("wake", isAnswered: false))
    let contact = harness.begin()
    #expect(harness.takeSent() == ["?0 wake"] && harness.completed == [contact] && harness.error(contact) == nil)
    harness.ask("battery")
    #expect(harness.takeSent() == ["?0 battery"])
  }

  @Test func anOpeningThatCannotBeSentIsMisconfigured() {
    var harness = opening(BinaryDialect.request(String(repeating: "x", count: 41)))
    let contact = harness.begin()
    #expect(harness.error(contact)?.kind == .misconfigured && harness.completed == [contact])
  }
}
