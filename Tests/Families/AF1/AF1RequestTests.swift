// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

@Suite struct AF1RequestTests {
  static let command = AF1Command(rawValue: 0x40)

  @Test func oneRequestIsOutstandingAndOrderIsKept() {
    var harness = AF1Harness.opened()
    let ids = (0..<3).map { harness.submit(AF1Request(.echo, payload: [UInt8($0)])) }
    for (index, id) in ids.enumerated() {
      let sent = harness.takeSent()
      #expect(sent.map(\.payload) == [[UInt8(index)]])
      #expect(sent[0].number == 0x2A18 + UInt16(index))
      harness.reply(sent[0], [9, UInt8(index)])
      #expect(harness.answer(id) == [9, UInt8(index)])
    }
    #expect(harness.takeSent().isEmpty)
    #expect(harness.exchange.deadline == nil)
  }

  @Test func numbersOfRequestsWrapAround() {
    var harness = AF1Harness(firstNumber: 0xFFFE)
    harness.begin()
    harness.greet()
    for number: UInt16 in [0xFFFF, 0x0000, 0x0001] {
      let id = harness.submit(AF1Request(.identify))
      let sent = harness.takeSent()
      #expect(sent.map(\.number) == [number])
      harness.reply(sent[0], [])
      #expect(harness.answer(id) == [])
    }
  }

  @Test func idempotentRequestsAreRepeatedWithTheSameNumberThreeTimes() {
    var harness = AF1Harness.opened()
    let id = harness.submit(AF1Request(.battery, largestReply: 16))
    harness.advance(.milliseconds(999))
    #expect(harness.results[id] == nil)
    harness.advance(.milliseconds(501))
    let sent = harness.takeSent()
    #expect(sent == Array(repeating: sent[0], count: 3))
    #expect(harness.error(id)?.kind == .timedOut)
    #expect(harness.exchange.counters.retries == 2)
    #expect(harness.exchange.counters.timeouts == 3)
  }

  @Test func onlyTheNumberAndCommandThatWereAskedAnswer() {
    var harness = AF1Harness.opened()
    let id = harness.submit(AF1Request(.battery))
    let sent = harness.takeSent()[0]
    harness.reply(.init(command: .battery, number: sent.number &- 2, payload: []), [1])
    harness.reply(.init(command: .battery, number: sent.number &+ 1, payload: []), [2])
    harness.reply(.init(command: .status, number: sent.number, payload: []), [3])
    #expect(harness.results[id] == nil)
    #expect(harness.exchange.counters.unexpected == 3)
    harness.reply(sent, [4])
    #expect(harness.answer(id) == [4])
  }

  @Test func duplicatesAndLateRepliesAreCountedAndDropped() {
    var harness = AF1Harness.opened()
    let answered = harness.submit(AF1Request(.battery))
    let first = harness.takeSent()[0]
    harness.reply(first, [1])
    harness.reply(first, [1])
    #expect(harness.exchange.counters.duplicates == 1)
    let lost = harness.submit(AF1Request(.echo, largestReply: 0))
    let second = harness.takeSent()[0]
    harness.advance(.seconds(2))
    harness.reply(second, [2])
    #expect(harness.exchange.counters.lateReplies == 1)
    #expect(harness.error(lost)?.kind == .timedOut)
    #expect(harness.answer(answered) == [1])
    #expect(harness.completions == 3)  // HELLO, and each request once
  }

  @Test func refusalsThatAreFinalFailAtOnce() {
    for reason: AF1RefusalReason in [.unknownCommand, .tooLong, .badArgument, .unsupportedVersion, .init(rawValue: 99)]
    {
      var harness = AF1Harness.opened()
      let id = harness.submit(AF1Request(Self.command))
      harness.refuse(harness.takeSent()[0], reason)
      #expect(harness.error(id)?.kind == .refused)
      #expect(harness.error(id)?.code == .refusal(reason.rawValue))
      #expect(harness.takeSent().isEmpty)
    }
  }

  @Test func aDamagedRequestIsSentAgainAtOnceAndABusyAccessoryIsAskedAfterAPause() {
    var harness = AF1Harness.opened()
    let id = harness.submit(AF1Request(Self.command))
    let first = harness.takeSent()[0]
    harness.refuse(first, .payloadDamaged)
    #expect(harness.takeSent() == [first])
    harness.refuse(first, .busy)
    #expect(harness.takeSent().isEmpty)
    harness.advance(.milliseconds(99))
    #expect(harness.takeSent().isEmpty)
    harness.advance(.milliseconds(1))
    #expect(harness.takeSent() == [first])
    // The third try was the last.
    harness.refuse(first, .busy)
    #expect(harness.error(id)?.code == .refusal(5))
  }

  @Test func aDamagedReplyIsAskedForAgainWithoutWaiting() {
    var harness = AF1Harness.opened()
    let id = harness.submit(AF1Request(.battery))
    let sent = harness.takeSent()[0]
    var frame = AF1Harness.frame(AF1Header(flags: .reply, command: .battery, number: sent.number), [1, 2, 3])
    frame[11] ^= 0x10
    harness.deliver(frame)
    #expect(harness.takeSent() == [sent])
    harness.reply(sent, [1, 2, 3])
    #expect(harness.answer(id) == [1, 2, 3])
  }

  @Test func aReplyBehindAnUnfinishedFrameIsFoundWhenTheRequestTimesOut() {
    var harness = AF1Harness.opened()
    let id = harness.submit(AF1Request(.echo, largestReply: 0))
    let sent = harness.takeSent()[0]
    // The head of a long frame whose rest was lost, then our answer.
    let lost = AF1Harness.frame(.event(.battery, number: 1), [UInt8](repeating: 7, count: 2_000))
    let answer = AF1Harness.frame(AF1Header(flags: .reply, command: .echo, number: sent.number), [5])
    harness.deliver(Array(lost[..<10]) + answer)
    #expect(harness.results[id] == nil)
    harness.advance(.milliseconds(500))
    #expect(harness.answer(id) == [5])
    #expect(harness.takeSent().isEmpty)
  }

  @Test func theQueueOfAF1RequestsIsBounded() {
    var options = AF1Exchange.Options()
    options.queueLimit = 2
    var harness = AF1Harness.opened(options: options)
    let ids = (0..<4).map { _ in harness.submit(AF1Request(.echo)) }  // one is outstanding, two wait
    #expect(harness.error(ids[3])?.kind == .busy)
    #expect(ids[..<3].allSatisfy { harness.results[$0] == nil })
  }

  @Test func cancellationFreesTheSlot() {
    var harness = AF1Harness.opened()
    let ids = (0..<3).map { harness.submit(AF1Request(.echo, payload: [UInt8($0)])) }
    let first = harness.takeSent()[0]
    harness.cancel(ids[1])
    #expect(harness.error(ids[1])?.kind == .cancelled)
    harness.cancel(ids[0])
    #expect(harness.error(ids[0])?.kind == .cancelled)
    let next = harness.takeSent()
    #expect(next.map(\.payload) == [[2]])
    harness.reply(first, [0])
    #expect(harness.exchange.counters.lateReplies == 1)
    harness.reply(next[0], [2])
    #expect(harness.answer(ids[2]) == [2])
    harness.cancel(ids[2])  // too late: nothing
    #expect(harness.completions == 4)
  }

  @Test func theEndFailsEverythingWithTheSameErrorAtOnce() {
    var harness = AF1Harness.opened()
    let ids = (0..<5).map { _ in harness.submit(AF1Request(Self.command)) }
    let error = AccessoryError.disconnected("gadget")
    harness.end(error)
    for id in ids { #expect(harness.error(id) == error) }
    let later = harness.submit(AF1Request(.battery))
    #expect(harness.error(later) == error)
    #expect(harness.exchange.deadline == nil)
    harness.end(.closed("gadget"))
    #expect(harness.completions == 7)
  }
}
