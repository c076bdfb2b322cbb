// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyEV3

/// Flow control for a brick: commands without a reply between answered ones.
@Suite struct EV3PacingTests {
  private func isMarker(_ message: EV3Message) -> Bool { message.type == .systemCommand && message.body == [0x9D] }

  @Test func aMarkerFollowsSoManyCommands() {
    var harness = EV3Harness.opened()
    let ids = (0..<10).map { _ in harness.direct(wantsReply: false) }
    var sent = harness.takeSent()
    #expect(sent.map(isMarker) == [false, false, false, false, true])
    #expect(harness.completed.suffix(4) == ids[..<4], "over with being sent")
    harness.answer(sent[4], .systemReply, [0x9D, 0, 0])
    sent = harness.takeSent()
    #expect(sent.map(isMarker) == [false, false, false, false, true])
    harness.answer(sent[4], .systemReply, [0x9D, 0, 0])
    #expect(harness.takeSent().count == 2, "no marker where nothing waits for it")
    #expect(harness.completed.suffix(10) == ids[...])
  }

  @Test func aMarkerFollowsSoManyUnansweredBytes() {
    var options = EV3Exchange.Options()
    options.unansweredBytes = 100
    var harness = EV3Harness.opened(options: options)
    for _ in 0..<4 { harness.direct(33, wantsReply: false) }  // 40 bytes each
    #expect(harness.takeSent().map(isMarker) == [false, false, true])
    // One that is longer than that goes alone.
    var other = EV3Harness.opened(options: options)
    for _ in 0..<2 { other.direct(500, wantsReply: false) }
    #expect(other.takeSent().map(isMarker) == [false, true])
  }

  /// Any reply says that all before it was read.
  @Test func aReplyMakesRoomForMoreCommands() {
    var harness = EV3Harness.opened()
    for _ in 0..<4 { harness.direct(wantsReply: false) }
    harness.direct()
    for _ in 0..<4 { harness.direct(2, wantsReply: false) }
    let sent = harness.takeSent()
    #expect(sent.map(\.type.wantsReply) == [false, false, false, false, true])
    harness.answer(sent[4], .directReply)
    #expect(harness.takeSent().map(isMarker) == [false, false, false, false])
  }

  /// Without an answer to it, nothing more is sent: those that wait fail, all at once.
  @Test func aMarkerWithoutAnswerFailsWhatWaits() {
    var harness = EV3Harness.opened()
    let ids = (0..<6).map { _ in harness.direct(wantsReply: false) }
    harness.advance(.seconds(3))
    #expect(harness.error(ids[4])?.kind == .timedOut && harness.error(ids[5])?.kind == .timedOut)
    #expect(harness.completed.suffix(2) == ids[4...])
    // The next tries again.
    _ = harness.takeSent()
    let next = harness.direct(wantsReply: false)
    let marker = harness.takeSent()
    #expect(marker.map(isMarker) == [true])
    harness.answer(marker[0], .systemReply, [0x9D, 0, 0])
    #expect(harness.results[next] != nil && harness.error(next) == nil)
  }

  /// While the transport takes nothing, nothing is written.
  @Test func commandsWaitWhileTheTransportTakesNothing() {
    var harness = EV3Harness.opened()
    harness.host.block()
    let ids = (0..<3).map { _ in harness.direct(wantsReply: false) }
    #expect(harness.takeSent().isEmpty && harness.results[ids[0]] == nil)
    harness.unblock()
    #expect(harness.takeSent().count == 3)
    #expect(harness.completed.suffix(3) == ids[...])
  }

  // MARK: - Other policies

  /// As LEGO's SDK for iOS: 125 ms, and a queue of two that drops the oldest.
  @Test func aFixedGapDropsTheOldestCommands() {
    var options = EV3Exchange.Options()
    options.pacing = .gap(.milliseconds(125))
    options.queueLimit = 2
    options.overflow = .dropOldest
    var harness = EV3Harness.opened(options: options)
    let ids = (1...5).map { harness.direct($0, wantsReply: false) }
    #expect(harness.takeSent().map(\.body.count) == [3])
    #expect([ids[1], ids[2]].map { harness.error($0)?.kind } == [.busy, .busy])
    #expect(harness.exchange.counters.overflows == 2)
    harness.advance(.milliseconds(124))
    #expect(harness.takeSent().isEmpty)
    harness.advance(.milliseconds(1))
    #expect(harness.takeSent().map(\.body.count) == [6])
    harness.advance(.milliseconds(125))
    #expect(harness.takeSent().map(\.body.count) == [7], "no markers")
  }

  @Test func theQueueOfCommandsIsBounded() {
    var options = EV3Exchange.Options()
    options.queueLimit = 2
    var harness = EV3Harness.opened(options: options)
    let ids = (0..<4).map { _ in harness.direct() }
    #expect(harness.error(ids[3])?.kind == .busy)
    #expect(harness.error(ids[2]) == nil)
  }

  @Test func aWindowOfThreeIsAnsweredInAnyOrder() {
    var options = EV3Exchange.Options()
    options.pacing = .window(3)
    var harness = EV3Harness.opened(options: options)
    let ids = (0..<5).map { _ in harness.direct() }
    let sent = harness.takeSent()
    #expect(sent.count == 3)
    // In whatever order they are answered, each has its own.
    for index in [2, 0, 1] { harness.answer(sent[index], .directReply, [UInt8(index)]) }
    #expect((0..<3).map { harness.reply(ids[$0])?.body } == [[0], [1], [2]])
    #expect(harness.takeSent().count == 2)
  }

  @Test func aCommandTooLongForAMessageIsMisconfigured() {
    var harness = EV3Harness.opened()
    let (most, more) = (harness.direct(1_017, wantsReply: false), harness.direct(1_018, wantsReply: false))
    #expect(harness.results[most] != nil && harness.error(most) == nil)
    #expect(harness.error(more)?.kind == .misconfigured)
  }
}
