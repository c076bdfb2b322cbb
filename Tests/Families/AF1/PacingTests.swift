// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

@Suite struct PacingTests {
  static let command = AF1Command(rawValue: 0x40)

  private func opened(
    _ pacing: Pacing, window: UInt8 = 8, limit: Int = 64, overflow: Overflow = .refuse
  ) -> AF1Harness {
    var options = AF1Exchange.Options()
    options.pacing = pacing
    options.queueLimit = limit
    options.overflow = overflow
    var harness = AF1Harness(options: options)
    harness.begin()
    harness.greet(window: window)
    return harness
  }

  @Test func aGapPassesBetweenRequestsEvenWhenRepliesAreFast() {
    var harness = opened(.gap(.milliseconds(125)))
    let ids = (0..<3).map { harness.submit(AF1Request(.echo, payload: [UInt8($0)])) }
    for (index, id) in ids.enumerated() {
      let sent = harness.takeSent()
      #expect(sent.map(\.payload) == [[UInt8(index)]])
      harness.reply(sent[0], [UInt8(index)])
      #expect(harness.answer(id) == [UInt8(index)])
      harness.advance(.milliseconds(124))
      #expect(harness.takeSent().isEmpty)
      harness.advance(.milliseconds(1))
    }
    #expect(harness.exchange.deadline == nil)
  }

  @Test func aWindowOfRequestsIsOutstandingAndAnsweredInAnyOrder() {
    var harness = opened(.window(3))
    let ids = (0..<5).map { harness.submit(AF1Request(.echo, payload: [UInt8($0)])) }
    var sent = harness.takeSent()
    #expect(sent.map(\.payload) == [[0], [1], [2]])
    harness.reply(sent[2], [2])
    sent += harness.takeSent()
    #expect(sent.count == 4)
    for request in sent where request.payload != [2] { harness.reply(request, request.payload) }
    for request in harness.takeSent() { harness.reply(request, request.payload) }
    for (index, id) in ids.enumerated() { #expect(harness.answer(id) == [UInt8(index)]) }
  }

  @Test func theAccessorysWindowIsTheLimit() {
    var harness = opened(.window(8), window: 2)
    for _ in 0..<5 { harness.submit(AF1Request(.echo)) }
    #expect(harness.takeSent().count == 2)
  }

  @Test func oneLostReplyOfAWindowIsRepeatedAlone() {
    var harness = opened(.window(3))
    let ids = (0..<3).map { harness.submit(AF1Request(.echo, payload: [UInt8($0)], largestReply: 0)) }
    let sent = harness.takeSent()
    harness.reply(sent[0], [0])
    harness.reply(sent[2], [2])
    harness.advance(.milliseconds(500))
    #expect(harness.takeSent() == [sent[1]])
    harness.reply(sent[1], [1])
    #expect(ids.allSatisfy { harness.answer($0) != nil })
  }

  @Test func aRestartFailsAllThatMustNotRunTwiceAndRepeatsTheRest() {
    var harness = opened(.window(3))
    let first = harness.submit(AF1Request(Self.command, largestReply: 0))
    harness.advance(.milliseconds(100))
    let second = harness.submit(AF1Request(Self.command, largestReply: 0))
    let third = harness.submit(AF1Request(.echo, largestReply: 0))
    _ = harness.takeSent()
    harness.advance(.milliseconds(400))
    let probe = harness.takeSent()
    #expect(probe.map(\.command) == [.hello])
    var payload: [UInt8] = []
    AF1HelloReply(bootID: 2, largestPayload: 4_096, window: 8).encode(into: &payload)
    harness.reply(probe[0], payload)
    #expect(harness.error(first)?.kind == .disconnected)
    #expect(harness.error(second)?.kind == .disconnected)
    #expect(harness.results[third] == nil)
    harness.advance(.milliseconds(100))
    let again = harness.takeSent()
    #expect(again.map(\.command) == [.echo])
    harness.reply(again[0], [])
    #expect(harness.answer(third) == [])
  }

  @Test func theOldestIsDroppedWhereOnlyTheLastMatters() {
    var harness = opened(.reply, limit: 2, overflow: .dropOldest)
    let ids = (0..<5).map { harness.submit(AF1Request(.echo, payload: [UInt8($0)])) }
    // The first is on its way; of the others the last two wait.
    #expect(harness.error(ids[1])?.kind == .busy)
    #expect(harness.error(ids[2])?.kind == .busy)
    #expect(harness.exchange.counters.overflows == 2)
    for index in [0, 3, 4] {
      let sent = harness.takeSent()
      #expect(sent.map(\.payload) == [[UInt8(index)]])
      harness.reply(sent[0], [UInt8(index)])
      #expect(harness.answer(ids[index]) == [UInt8(index)])
    }
  }
}
