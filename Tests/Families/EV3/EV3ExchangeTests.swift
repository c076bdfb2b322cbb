// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyEV3

/// Commands, replies and errors of the EV3, with the test as the brick.
@Suite struct EV3ExchangeTests {
  // MARK: - Contact

  @Test func contactAsksOnlyForOpenHandles() {
    var harness = EV3Harness()
    let opening = harness.begin()
    let sent = harness.takeSent()
    #expect(sent == [EV3Message(number: 0x2A, type: .systemCommand, body: [0x9D])])
    harness.answer(sent[0], .systemReply, [0x9D, 0, 0])
    #expect(harness.reply(opening)?.number == 0x2A)
  }

  /// A firmware that doesn't know the command is an EV3 all the same.
  @Test func aRefusedContactIsAContact() {
    var harness = EV3Harness()
    let opening = harness.begin()
    harness.answer(harness.takeSent()[0], .systemError, [0x9D, 0x0A])
    #expect(harness.reply(opening) != nil)
  }

  /// What a program before this one has left half read is got over by the second try.
  @Test func contactIsMadeBehindHalfAMessage() {
    var harness = EV3Harness()
    let opening = harness.begin()
    harness.deliver([0xFF])  // takes the reply's first byte for its own second
    harness.answer(harness.takeSent()[0], .systemReply, [0x9D, 0, 0])
    #expect(harness.results.isEmpty)
    harness.advance(.seconds(3))
    harness.answer(harness.takeSent()[0], .systemReply, [0x9D, 0, 0])
    #expect(harness.reply(opening) != nil)
  }

  @Test func aBrickThatNeverAnswersTimesOutTheOpening() {
    var harness = EV3Harness()
    let opening = harness.begin()
    harness.advance(.seconds(20))
    #expect(harness.takeSent().count == 3)
    #expect(harness.error(opening)?.kind == .timedOut)
    #expect(harness.error(opening)?.message.contains("is it an EV3") == true)
  }

  // MARK: - Replies

  @Test func aCommandGetsItsReply() {
    var harness = EV3Harness.opened()
    let id = harness.direct()
    let sent = harness.takeSent()
    #expect(sent == [EV3Message(number: 0x2B, type: .directCommand, body: [0, 0, 1])])
    harness.answer(sent[0], .directReply, [1, 2])
    #expect(harness.reply(id) == EV3Message(number: 0x2B, type: .directReply, body: [1, 2]))
  }

  /// One after another: a direct command ends the one that still runs.
  @Test func theNextWaitsForTheReply() {
    var harness = EV3Harness.opened()
    let ids = [harness.direct(), harness.direct(2), harness.direct(3, wantsReply: false), harness.direct(4)]
    for (index, id) in ids.enumerated() {
      let sent = harness.takeSent()
      #expect(sent.first?.body.count == 3 + index)
      if index < 2 { #expect(sent.count == 1) }
      if index == 2 {
        // It is over with being sent, and the next goes behind it.
        #expect(harness.results[id] != nil && sent.count == 2)
        harness.answer(sent[1], .directReply)
        break
      }
      harness.answer(sent[0], .directReply)
    }
    #expect(harness.completed.suffix(4) == ids[...])
  }

  @Test func errorRepliesAreTyped() throws {
    var harness = EV3Harness.opened()
    let direct = harness.direct()
    harness.answer(harness.takeSent()[0], .directError)
    #expect(harness.error(direct)?.kind == .refused)
    #expect(harness.error(direct)?.ev3Status == nil)
    for status in EV3Status.all {
      for type in [EV3MessageType.systemReply, .systemError] {
        let id = try harness.system(.delete("x"))
        harness.answer(harness.takeSent()[0], type, [0x9C, status.rawValue])
        if type == .systemReply, status.isSuccess {
          #expect(harness.reply(id) != nil)
        } else {
          #expect(harness.error(id)?.kind == .refused)
          #expect(harness.error(id)?.ev3Status == status)
          #expect(harness.error(id)?.message == "brick refuses: \(status)")
        }
      }
    }
    let unknown = try harness.system(.delete("x"))
    harness.answer(harness.takeSent()[0], .systemError, [0x9C, 0x77])
    #expect(harness.error(unknown)?.ev3Status == EV3Status(rawValue: 0x77))
    #expect(harness.error(unknown)?.message == "brick refuses: status 119")
  }

  /// A reply is for the command with its counter and of its kind; all else is counted and dropped.
  @Test func repliesToOtherCommandsAreCountedAndDropped() throws {
    var harness = EV3Harness.opened()
    let id = harness.direct()
    let sent = harness.takeSent()[0]
    harness.answer(EV3Message(number: sent.number &+ 1, type: sent.type, body: []), .directReply, [9])
    harness.answer(sent, .systemReply, [0x9D, 0])
    harness.answer(sent, .directCommand)
    harness.answer(sent, EV3MessageType(rawValue: 0x0F))
    #expect(harness.results[id] == nil)
    #expect(harness.exchange.counters.unexpected == 4)
    harness.answer(sent, .directReply, [7])
    #expect(harness.reply(id)?.body == [7])
    harness.answer(sent, .directReply, [8])
    #expect(harness.exchange.counters.duplicates == 1)
  }

  @Test func senselessSystemRepliesAreBadData() throws {
    for body in [[], [0x9C], [0x93, 0]] as [[UInt8]] {
      var harness = EV3Harness.opened()
      let id = try harness.system(.delete("x"))
      harness.answer(harness.takeSent()[0], .systemReply, body)
      #expect(harness.error(id)?.kind == .badData)
    }
  }

  /// Lengths that can't be, then good replies: framing goes on where the length says.
  @Test func malformedMessagesDoNotHarmTheReplyBehindThem() {
    var harness = EV3Harness.opened()
    let id = harness.direct()
    let sent = harness.takeSent()[0]
    harness.deliver([0, 0])
    harness.deliver([2, 0, 0x2B, 0x00])
    harness.deliver([0x01, 0x04] + [UInt8](repeating: 2, count: 1_025))
    #expect(harness.results[id] == nil)
    harness.answer(sent, .directReply, [5])
    #expect(harness.reply(id)?.body == [5])
  }

  /// LEGO's SDK for iOS takes what one read brings for one reply.
  @Test func repliesMayComeInPiecesOrTogether() {
    var options = EV3Exchange.Options()
    options.pacing = .window(2)
    var harness = EV3Harness.opened(options: options)
    let ids = [harness.direct(), harness.direct()]
    let replies = harness.takeSent().map { [5, 0, UInt8($0.number & 0xFF), UInt8($0.number >> 8), 2, 7, 8] }
    for byte in replies[0] { harness.deliver([byte]) }
    #expect(harness.reply(ids[0])?.body == [7, 8])
    let third = harness.direct()
    let last = harness.takeSent()[0].number
    harness.deliver(replies[1] + [4, 0, UInt8(last & 0xFF), UInt8(last >> 8), 2, 9])
    #expect(harness.reply(ids[1])?.body == [7, 8])
    #expect(harness.reply(third)?.body == [9])
  }

  // MARK: - Time

  @Test func aCommandWithoutReplyTimesOut() {
    var harness = EV3Harness.opened()
    let (first, second) = (harness.direct(), harness.direct(2))
    let sent = harness.takeSent()[0]
    harness.advance(.milliseconds(2_999))
    #expect(harness.results[first] == nil)
    harness.advance(.milliseconds(1))
    #expect(harness.error(first)?.kind == .timedOut)
    // It isn't repeated, and what comes late isn't for the next.
    let next = harness.takeSent()
    #expect(next.map(\.body.count) == [4])
    harness.answer(sent, .directReply, [1])
    #expect(harness.exchange.counters.lateReplies == 1)
    harness.answer(next[0], .directReply, [2])
    #expect(harness.reply(second)?.body == [2])
  }

  @Test func aCommandMayHaveALongerTimeLimit() {
    var harness = EV3Harness.opened()
    let id = harness.direct(timeout: .seconds(60))
    harness.advance(.seconds(59))
    #expect(harness.results[id] == nil)
    harness.answer(harness.takeSent()[0], .directReply)
    #expect(harness.reply(id) != nil)
  }

  @Test func aCancelledCommandsReplyIsCountedAsLate() {
    var harness = EV3Harness.opened()
    let (first, second, third) = (harness.direct(), harness.direct(2), harness.direct(3))
    let sent = harness.takeSent()[0]
    harness.cancel(second)
    harness.cancel(first)
    #expect(harness.error(first)?.kind == .cancelled && harness.error(second)?.kind == .cancelled)
    harness.answer(sent, .directReply)
    #expect(harness.exchange.counters.lateReplies == 1)
    harness.answer(harness.takeSent()[0], .directReply)
    #expect(harness.reply(third) != nil)
    harness.cancel(third)
    #expect(harness.completed.count == 4)
  }

  @Test func theFirstEndFailsEveryCommand() {
    var harness = EV3Harness.opened()
    let ids = [harness.direct(), harness.direct(), harness.direct(wantsReply: false)]
    let gone = AccessoryError.disconnected("brick")
    harness.end(gone)
    harness.end(.closed("brick"))
    let later = harness.direct()
    #expect((ids + [later]).map { harness.error($0) } == Array(repeating: gone, count: 4))
    #expect(harness.exchange.deadline == nil)
  }

  // MARK: - Counters

  /// LEGO's SDK for iOS never forgets a reply; here 70,000 commands go around the counter, each with its own.
  @Test func everyCommandGetsItsReplyAroundTheCounter() {
    var harness = EV3Harness.opened()
    for index in 0..<70_000 {
      let id = harness.direct()
      let sent = harness.takeSent()
      guard sent.count == 1, sent[0].number == UInt16(truncatingIfNeeded: 0x2B + index) else {
        Issue.record("number \(index) was sent as \(sent)")
        return
      }
      let body = [UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: index >> 8)]
      harness.answer(sent[0], .directReply, body)
      guard harness.reply(id)?.body == body else {
        Issue.record("number \(index) has another's reply")
        return
      }
      harness.host.results = [:]
    }
    #expect(harness.exchange.outstanding.isEmpty && harness.exchange.counters.unexpected == 0)
  }

  /// A number that is still waited for isn't used again.
  @Test func aNumberInUseIsNotUsedAgain() {
    var options = EV3Exchange.Options()
    options.pacing = .window(2)
    var harness = EV3Harness.opened(options: options)
    let waiting = harness.direct(timeout: .seconds(1_000_000))
    let first = harness.takeSent()[0].number
    for _ in 0..<65_535 {
      harness.direct()
      let sent = harness.takeSent()[0]
      if sent.number == first {
        Issue.record("\(first) is used twice")
        return
      }
      harness.answer(sent, .directReply)
    }
    harness.deliver([4, 0, UInt8(first & 0xFF), UInt8(first >> 8), 2, 9])
    #expect(harness.reply(waiting)?.body == [9])
  }

  // MARK: - Reports

  @Test func aReportCarriesOneMessage() {
    var harness = EV3Harness.opened()
    let id = harness.direct()
    let sent = harness.takeSent()[0]
    let odd = [4, 0, UInt8(sent.number & 0xFF), UInt8(sent.number >> 8), 2, 9]
    // A report of nothing, one of nonsense, and the reply with what fills it up; of an odd number of bytes.
    harness.deliver(report: [UInt8](repeating: 0, count: 1_024))
    harness.deliver(report: [UInt8](repeating: 0xFF, count: 1_024))
    harness.deliver(report: odd + [UInt8](repeating: 0, count: 1_024 - odd.count))
    #expect(harness.reply(id)?.body == [9])
    let next = harness.direct()
    harness.deliver(report: [3, 0, UInt8((sent.number + 1) & 0xFF), UInt8((sent.number + 1) >> 8), 2, 0, 7])
    #expect(harness.reply(next)?.body == [])
  }

  /// Small reports, as a brick behind another one has them.
  @Test func aMessageMayTakeSeveralReports() {
    var harness = EV3Harness.opened()
    let id = harness.direct()
    let number = harness.takeSent()[0].number
    let message = [103, 0, UInt8(number & 0xFF), UInt8(number >> 8), 2] + [UInt8](repeating: 5, count: 100)
    harness.deliver(report: Array(message[..<64]))
    #expect(harness.results[id] == nil)
    harness.deliver(report: Array(message[64...]) + [UInt8](repeating: 0, count: 23))
    #expect(harness.reply(id)?.body.count == 100)
  }
}
